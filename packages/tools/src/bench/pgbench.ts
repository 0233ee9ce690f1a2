/**
 * Yardsticks on the same PostgreSQL in the same run, by `pgbench`: its TPC-B-like script, and a booking written
 * by hand as one transaction of separate statements.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The program's path; installed from Debian's packages when that is possible here; null when it is not. */
export function findPgbench(say: (line: string) => void): string | null {
  const found = locate();
  if (found !== null) return found;
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return null;
  say("pgbench is not here: installing Debian's postgresql-contrib…");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]): boolean =>
    spawnSync("apt-get", args, { env, stdio: "ignore" }).status === 0;
  apt("update");
  apt("install", "-y", "--no-install-recommends", "postgresql-contrib");
  return locate();
}

/** The program itself before Debian's wrapper, which is a Perl script. */
function locate(): string | null {
  const [newest] = globSync("/usr/lib/postgresql/*/bin/pgbench").sort().toReversed();
  if (newest !== undefined) return newest;
  return spawnSync("pgbench", ["--version"]).status === 0 ? "pgbench" : null;
}

export interface PgbenchOptions {
  readonly program: string;
  /** Connection URL of the database. */
  readonly url: string;
  readonly seconds: number;
}

export interface PgbenchRun {
  readonly clients: number;
  readonly args?: readonly string[];
}

/** Transactions a second. @throws when a transaction failed */
export function pgbench(options: PgbenchOptions, { clients, args = [] }: PgbenchRun): number {
  const threads = String(Math.min(2, clients));
  const fixed = [
    "-n",
    "-M",
    "prepared",
    "-c",
    String(clients),
    "-j",
    threads,
    "-T",
    String(options.seconds),
  ];
  const out = execFileSync(options.program, [...fixed, ...args, options.url], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const failed = Number(/failed transactions: (\d+)/.exec(out)?.[1] ?? 0);
  if (failed > 0) throw new Error(`pgbench: ${failed} transactions failed`);
  return Number(/tps = ([\d.]+)/.exec(out)?.[1]);
}

/** Fills the tables of the TPC-B-like script; scale 50 keeps its branches from being the contended rows. */
export function prepareTpcb({ program, url }: PgbenchOptions): void {
  execFileSync(program, ["-i", "-q", "-s", "50", url], { stdio: "ignore" });
}

const PAIRS = 4_000;

/** The hand-written transaction's tables: what a booking cannot do without, and nothing of ours. */
export const HAND_WRITTEN_SCHEMA = `
create extension if not exists btree_gist;
create table held (id bigint primary key, tenant int not null, pool int not null, key text not null unique,
  during int8range not null, made_at timestamptz not null default now());
create table held_unit (held_id bigint not null, unit bigint not null, during int8range not null,
  exclude using gist (unit with =, during with &&));
create index on held_unit (held_id);
create table allowance (tenant int, pool int, used bigint not null, most bigint not null,
  primary key (tenant, pool), check (used <= most)) with (fillfactor = 50);
create table counted (pool int primary key, reserved bigint not null, at timestamptz not null) with (fillfactor = 50);
create table told (id bigint generated always as identity primary key, kind text not null, body jsonb not null);
insert into counted select pool, 0, now() from generate_series(0, 49) pool;
insert into allowance select tenant, pool, 0, 1000000000 from generate_series(0, 7) tenant, generate_series(0, 49) pool;`;

/** Two units for an hour: windows fill the 8,000 units without overlap; the contended rows come last. */
const HAND_WRITTEN = `\\set n :n + 1
\\set id :n * :clients + :client_id
\\set pair ((:id % ${PAIRS}) * 1579) % ${PAIRS}
\\set pool :pair % :pools
\\set tenant random(0, 7)
\\set hour :id / ${PAIRS}
begin;
insert into held (id, tenant, pool, key, during) values (:id, :tenant, :pool, 'key' || :id::bigint, int8range(:hour * 3600000, (:hour + 1) * 3600000));
insert into held_unit values (:id, :pair * 2, int8range(:hour * 3600000, (:hour + 1) * 3600000)), (:id, :pair * 2 + 1, int8range(:hour * 3600000, (:hour + 1) * 3600000));
insert into told (kind, body) values ('created', jsonb_build_object('id', :id::bigint, 'pool', :pool::int));
update allowance set used = used + 2 where tenant = :tenant and pool = :pool and used + 2 <= most;
update counted set reserved = reserved + 2, at = now() where pool = :pool;
commit;
`;

/** Hand-written bookings a second over so many pools; its tables must be fresh. */
export function handWritten(
  options: PgbenchOptions,
  { clients, pools }: { readonly clients: number; readonly pools: number },
): number {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-pgbench-"));
  try {
    const script = path.join(folder, "booking.sql");
    writeFileSync(script, HAND_WRITTEN);
    const defines = [`n=0`, `clients=${clients}`, `pools=${pools}`].flatMap((define) => [
      "-D",
      define,
    ]);
    return pgbench(options, { clients, args: ["-f", script, ...defines] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
