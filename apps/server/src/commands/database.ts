/** Commands that work on the database itself: migrate, rebuild, doctor, clock. */
import { randomBytes } from "node:crypto";
import {
  type Database,
  createPoolStore,
  grantServing,
  migrate,
  openDatabase,
  sqlState,
} from "@berth/db";
import { createEngine } from "@berth/engine";
import type { Config } from "../config.ts";
import { type Server, withServer } from "../database.ts";
import { CHECK_NAMES, examine, explainCheck, render } from "../doctor/run.ts";
import { createFailpoint } from "../failpoint.ts";
import { createLog } from "../log.ts";
import { EXIT, UsageError } from "./exit.ts";
import type { Output } from "./output.ts";

/** @param options.grantTo a role that serves and does nothing else gets its rights */
export async function migrateDatabase(
  config: Config,
  output: Output,
  options: { readonly grantTo?: string } = {},
): Promise<void> {
  await withServer(config, {}, async ({ url, name }) => {
    const before = new Set(await appliedMigrations(url));
    await migrate(url, {
      failpoint: createFailpoint(config.failpoints),
      blocked: (tag) => output.say(`${tag} gave way to somebody who holds a lock; it tries again`),
    });
    const applied = (await appliedMigrations(url)).filter((tag) => !before.has(tag));
    output.say(
      applied.length === 0
        ? `${name} is at this version already: nothing was applied`
        : `applied ${applied.join(", ")} to ${name}: it is at this version`,
    );
    if (options.grantTo === undefined) return;
    await grantServing(url, options.grantTo);
    output.say(`role ${options.grantTo} may serve, and change no table`);
  });
}

/** Names of what was applied so far, in order. */
function appliedMigrations(url: string): Promise<string[]> {
  return reading(url, async ({ sql }) => {
    const [known] = await sql<{ there: boolean }[]>`
      select to_regclass('berth_migrations') is not null as there`;
    if (!known?.there) return [];
    const rows = await sql<{ tag: string }[]>`select tag from berth_migrations order by tag`;
    return rows.map(({ tag }) => tag);
  });
}

async function reading<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url, {
    connections: 1,
    writers: 1,
    applicationName: "berth-command",
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Recounts pools and writes what differs; each correction is a line of JSON. Corrects nothing in a healthy system. */
export function rebuild(config: Config, output: Output, poolIds: readonly string[]): Promise<void> {
  return withSchema(config, async ({ url }) => {
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
  output.say(
    `${counted(poolIds.length, "pool")} recounted, ${counted(corrected, "row")} corrected`,
  );
}

type PoolGate = Parameters<ReturnType<typeof createEngine>["rebuild"]>[0];

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

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
  { json = false, explain = false }: DoctorOptions,
): Promise<number> {
  return withSchema(config, async ({ url, name }) => {
    const report = await examine(url);
    output.data(json ? JSON.stringify(report) : render(report, { explain }));
    output.say(`looked at ${await extent(url)} of ${name}`);
    return report.healthy ? EXIT.ok : EXIT.bug;
  });
}

/**
 * Takes the database's clock as it is for right: leases, which stopped lapsing when it leapt, lapse again.
 * Prints the stretch that counts as an outage; nothing when leases lapse anyhow.
 */
export function acceptClock(config: Config, output: Output): Promise<void> {
  return withSchema(config, ({ url }) =>
    reading(url, async ({ sql }) => {
      const [row] = await sql<{ outage: { from: number; to: number } | null }[]>`
        select berth_accept_clock_v1() as outage`;
      if (!row?.outage) {
        output.say("leases lapse as usual: there is nothing to accept");
        return;
      }
      const [from, to] = [row.outage.from, row.outage.to].map((at) => new Date(at).toISOString());
      output.data(JSON.stringify({ from, to }));
      output.say("the clock is accepted: leases lapse again, each at least 30 s from now");
    }),
  );
}

export interface DoctorOptions {
  readonly json?: boolean | undefined;
  /** Under what does not hold: what it means, and what to do. */
  readonly explain?: boolean | undefined;
}

/** Says what a check is about; asks no database. @throws UsageError when there is no such check */
export function explainOne(output: Output, name: string): void {
  const invariant = CHECK_NAMES.find((known) => known === name.toUpperCase());
  if (invariant === undefined)
    throw new UsageError(`there is no check ${name}; there are ${CHECK_NAMES.join(", ")}`);
  output.data(explainCheck(invariant));
}

/** How much there is to look at: a database without a pool is healthy and proves nothing. */
function extent(url: string): Promise<string> {
  return reading(url, async ({ sql }) => {
    const [row] = await sql<{ pools: number; nodes: number; units: number; live: number }[]>`
      select (select count(*)::int from pools) as pools,
        (select count(*)::int from nodes where removed_at is null) as nodes,
        (select count(*)::int from units where not removed) as units,
        (select count(*)::int from reservations
          where state in ('scheduled', 'active', 'preempting')) as live`;
    const { pools = 0, nodes = 0, units = 0, live = 0 } = row ?? {};
    const parts = [
      counted(pools, "pool"),
      counted(nodes, "node"),
      counted(units, "unit"),
      counted(live, "live reservation"),
    ];
    return parts.join(", ");
  });
}

/** Work on a database that Berth is on, beside a running server or without one. */
export function withDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return withSchema(config, ({ url }) => reading(url, work));
}

const UNDEFINED_TABLE = "42P01";

/** @throws UsageError on a database that Berth was never on */
async function withSchema<T>(config: Config, work: (server: Server) => Promise<T>): Promise<T> {
  try {
    return await withServer(config, { existing: true }, work);
  } catch (error) {
    if (sqlState(error) !== UNDEFINED_TABLE) throw error;
    throw new UsageError("this database has no schema of this version: run `berth migrate` first");
  }
}
