/** Commands that work on the database itself: migrate, rebuild, doctor. */
import { randomBytes } from "node:crypto";
import { type Database, createPoolStore, migrate, openDatabase, sqlState } from "@berth/db";
import { createEngine } from "@berth/engine";
import type { Config } from "../config.ts";
import { withServer } from "../database.ts";
import { examine, render } from "../doctor/run.ts";
import { createLog } from "../log.ts";
import { EXIT, UsageError } from "./exit.ts";
import type { Output } from "./output.ts";

export async function migrateDatabase(config: Config, output: Output): Promise<void> {
  await withServer(config, migrate);
  output.say("the database is at this version");
}

/** Recounts pools and writes what differs; each correction is a line of JSON. Corrects nothing in a healthy system. */
export function rebuild(config: Config, output: Output, poolIds: readonly string[]): Promise<void> {
  return withSchema(config, async (url) => {
    const database = openDatabase(url, { applicationName: "berth-rebuild" });
    try {
      await rebuildPools(database, output, await chosenPools(database, poolIds));
    } finally {
      await database.close();
    }
  });
}

async function rebuildPools(
  database: Database,
  output: Output,
  poolIds: readonly PoolGate[],
): Promise<void> {
  const engine = createEngine({
    store: createPoolStore(database),
    random: randomBytes,
    log: createLog("silent"),
    elapsed: () => performance.now(),
  });
  let corrected = 0;
  for (const poolId of poolIds) {
    for (const correction of await engine.rebuild(poolId)) {
      corrected += 1;
      output.data(JSON.stringify({ poolId, ...correction }));
    }
  }
  await engine.stop();
  output.say(`${poolIds.length} pools recounted, ${corrected} rows corrected`);
}

type PoolGate = Parameters<ReturnType<typeof createEngine>["rebuild"]>[0];

/** All of them when none is named. */
async function chosenPools(database: Database, wanted: readonly string[]): Promise<PoolGate[]> {
  const rows = await database.sql<{ id: PoolGate }[]>`select id from pools order by id`;
  const known = rows.map((row) => row.id);
  const unknown = wanted.find((id) => !known.some((each) => each === id));
  if (unknown !== undefined) throw new UsageError(`there is no pool ${unknown}`);
  return wanted.length === 0 ? known : known.filter((id) => wanted.includes(id));
}

/** Answers the exit status: 1 when an invariant does not hold. */
export function doctor(
  config: Config,
  output: Output,
  options: { readonly json?: boolean },
): Promise<number> {
  return withSchema(config, async (url) => {
    const report = await examine(url);
    output.data(options.json ? JSON.stringify(report) : render(report));
    return report.healthy ? EXIT.ok : EXIT.bug;
  });
}

const UNDEFINED_TABLE = "42P01";

/** @throws UsageError on a database that Berth was never on */
async function withSchema<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  try {
    return await withServer(config, work);
  } catch (error) {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    throw new UsageError("this database has no schema of this version: run `berth migrate` first");
  }
}
