/** Waits for a fact that only the database knows. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../client.ts";

const PATIENCE_MS = 20_000;
const POLL_MS = 5;

export async function waitFor(fact: () => Promise<boolean>, what: string): Promise<void> {
  const started = performance.now();
  while (!(await fact())) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`waited in vain for ${what}`);
    await delay(POLL_MS);
  }
}

/** Until this many sessions of the database wait for a lock. */
export function waitForLockWaiters(sql: Client, count: number): Promise<void> {
  return waitFor(async () => {
    const [row] = await sql<{ waiting: number }[]>`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    return row?.waiting === count;
  }, `${count} sessions waiting for a lock`);
}
