/** F3: the database's own processes are ended one after the other, readers, writers and listeners alike. */
import { setTimeout as delay } from "node:timers/promises";
import { testDatabase } from "@berth/db/testing";
import { expect, test, vi } from "vitest";
import { type Work, underWork } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const KILLS = 300;
const MOST_AT_ONCE = 3;
const APART_MS = 60;
const PATIENCE = { timeout: 30_000 };

test("300 backends killed under load: nobody hangs, nothing is lost or done twice, a watcher misses nothing", async () => {
  await faultRun("F3", KILLS, async (run) => {
    const database = await testDatabase();
    try {
      return await underWork({ run, database, watched: true }, async (work) => {
        const killed = await killBackends(work);
        killed.set("berth-listen", (killed.get("berth-listen") ?? 0) + (await killListeners(work)));
        for (const name of ["berth", "berth-write", "berth-listen"])
          expect(killed.get(name), name).toBeGreaterThan(0);
        const each = [...killed].map(([name, times]) => `${times} ${name}`).join(" + ");
        return `${sum(killed)} backends killed (${each})`;
      });
    } finally {
      await database.close();
    }
  });
}, 600_000);

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b);

const BY_NAME = `datname = current_database() and application_name like 'berth%'`;

/** How many of each kind. */
async function killBackends({ database, run }: Work): Promise<Map<string, number>> {
  const killed = new Map<string, number>();
  for (let left = run.count; left > 0;) {
    const most = Math.min(left, 1 + Math.trunc(run.random() * MOST_AT_ONCE));
    const victims = await database.sql.unsafe<{ name: string }[]>(
      `select name from (
         select application_name as name, pid from pg_stat_activity where ${BY_NAME}
          order by md5(pid || $1::text) limit $2) victims
        where pg_terminate_backend(pid)`,
      [String(run.random()), most],
    );
    for (const { name } of victims) killed.set(name, (killed.get(name) ?? 0) + 1);
    left -= victims.length;
    await delay(run.random() * APART_MS);
  }
  return killed;
}

/** Ends every listener, and resolves with how many when whoever is watched listens again. */
async function killListeners({ database }: Work): Promise<number> {
  const listening = async (then: string) => {
    const [row] = await database.sql.unsafe<{ count: number }[]>(
      `select count(${then})::int as count from pg_stat_activity
        where ${BY_NAME} and application_name = 'berth-listen' and query ilike 'listen%'`,
    );
    return row?.count ?? 0;
  };
  const atLeastOne = (then: string) => async () => {
    const count = await listening(then);
    expect(count).toBeGreaterThan(0);
    return count;
  };
  const killed = await vi.waitFor(atLeastOne("nullif(pg_terminate_backend(pid), false)"), PATIENCE);
  await vi.waitFor(atLeastOne("pid"), PATIENCE);
  return killed;
}
