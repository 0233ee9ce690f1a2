/** A database of a test file's own. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";
import { type Client, createClient } from "../client.ts";
import { TEMPLATE } from "./global-setup.ts";

export interface TestDatabase {
  readonly url: string;
  /** For looking and seeding beside the code under test; takes no part in its limits. */
  readonly sql: Client;
  /**
   * Resolves when readers of the feed may see every event there is. The feed stops below the oldest open
   * transaction, and that may be one of another test's database: they share a cluster.
   */
  feedCaughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** Clones the run's migrated template (or makes an empty database); about 0.1 s. Close it when done. */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const maintenance = inject("berthPostgres");
  const name = `t_${randomBytes(6).toString("hex")}`;
  const url = Object.assign(new URL(maintenance), { pathname: `/${name}` }).href;
  const template = options.empty === true ? "template1" : TEMPLATE;
  await administer(maintenance, `create database ${name} template ${template}`);
  return lookingInto(url, () => administer(maintenance, `drop database ${name} with (force)`));
}

/** The database at this URL as tests look into it. */
export function lookingInto(url: string, drop: () => Promise<void>): TestDatabase {
  const sql = createClient(url, {
    applicationName: "test",
    max: 4,
    bounds: { statement_timeout: 60_000, lock_timeout: 0, idle_in_transaction_session_timeout: 0 },
  });
  return {
    url,
    sql,
    feedCaughtUp: () => feedCaughtUp(sql),
    async close() {
      await sql.end({ timeout: 5 });
      await drop();
    },
  };
}

const FEED_PATIENCE_MS = 20_000;

async function feedCaughtUp(sql: Client): Promise<void> {
  const patience = AbortSignal.timeout(FEED_PATIENCE_MS);
  const newest = sql<
    { xid: string }[]
  >`select coalesce(max(xid), '0'::xid8)::text as xid from events`;
  const [{ xid } = { xid: "0" }] = await newest;
  for (;;) {
    const [row] = await sql<{ shown: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > ${xid}::xid8 as shown`;
    if (row?.shown === true) return;
    await delay(10, undefined, { signal: patience });
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = createClient(url, {
    applicationName: "test-admin",
    max: 1,
    bounds: { statement_timeout: 60_000 },
  });
  try {
    await client.unsafe(statement);
  } finally {
    await client.end({ timeout: 5 });
  }
}
