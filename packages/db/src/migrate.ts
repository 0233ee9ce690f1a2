/**
 * Brings a database to this version's schema. Drizzle's own migrator runs on the driver's transactions,
 * which go on over another connection when theirs dies; a migration is the last place for that.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "./client.ts";
import { sqlState } from "./errors.ts";
import type { Failpoint } from "./failpoint.ts";
import { SlotPool, type SlotTransaction } from "./slot-pool.ts";

const FOLDER = new URL("../migrations/", import.meta.url);
/** "berth" in ASCII: whoever migrates this database waits for the one that is at it. */
const LOCK = 0x6265727468;
const PATIENCE_MS = 600_000;
/** Whoever books waits behind a migration that waits: not for longer than this, and less than bookings bear. */
const LOCK_MS = 2_000;
/** A migration that never gets its locks is given up, and nothing was changed. */
const BLOCKED_MS = 60_000;
const RETRY_MS = 1_000;
/** Another transaction was in the way; the same statements may go through a moment later. */
const IN_THE_WAY = new Set(["55P03", "40P01", "40001"]);
const NOT_ALLOWED = "42501";

interface Migration {
  readonly tag: string;
  readonly hash: string;
  readonly statements: readonly string[];
}

export interface MigrateOptions {
  /** Where the migrations are, with a slash at the end; default: this version's. */
  readonly folder?: URL;
  readonly failpoint?: Failpoint | undefined;
  /** How long locks that others hold are tried for, milliseconds; default 60,000. */
  readonly blockedMs?: number;
  /** Told of each try that gave way to others. */
  blocked?(migration: string): void;
}

/** A migration cannot be applied. Nothing was changed; the message says which one and why. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly migration: string;
  constructor(migration: string, why: string, cause?: unknown) {
    super(`migration ${migration} ${why}; nothing was changed`, { cause });
    this.migration = migration;
  }
}

/**
 * Applies every migration that is missing, all in one transaction, forward only. A database that is ahead
 * of this version is left as it is: newer servers may already run on it. Where none is missing nothing is
 * locked or written, and the right to read is enough.
 *
 * Beside servers that serve, no lock is waited for longer than 2 s at a time: everything is taken back then, and
 * tried again until a minute is over.
 * @throws MigrationError
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<void> {
  const { folder = FOLDER, failpoint } = options;
  const migrations = readMigrations(folder);
  const slots = new SlotPool(url, {
    slots: 1,
    applicationName: "berth-migrate",
    answerMs: PATIENCE_MS,
    bounds: { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 },
  });
  const giveUpAt = performance.now() + (options.blockedMs ?? BLOCKED_MS);
  try {
    for (;;) {
      const blocked = await slots
        .tx((tx) => applyMissing(tx, migrations, failpoint))
        .then(() => null, blockedBy);
      if (blocked === null) return;
      if (performance.now() >= giveUpAt) throw blocked;
      options.blocked?.(blocked.migration);
      await delay(RETRY_MS * (0.5 + Math.random()));
    }
  } finally {
    await slots.end();
  }
}

/** The error of a try that may be made again. @throws every other one */
function blockedBy(error: unknown): MigrationError {
  const isBlocked = error instanceof MigrationError && IN_THE_WAY.has(sqlState(error.cause) ?? "");
  if (!isBlocked) throw error;
  return error;
}

/** The migrations of this version in their order: tag and SHA-256, as they are on record once applied. */
export function migrationHashes(): ReadonlyMap<string, string> {
  return new Map(readMigrations(FOLDER).map(({ tag, hash }) => [tag, hash]));
}

/** Whether every migration of this version is applied. */
export async function isMigrated(url: string): Promise<boolean> {
  const client = createClient(url, { applicationName: "berth-migrate", max: 1 });
  try {
    const [there] = await client<{ there: boolean }[]>`
      select to_regclass('berth_migrations') is not null as there`;
    if (!there?.there) return false;
    const rows = await client<{ tag: string }[]>`select tag from berth_migrations`;
    const applied = new Set(rows.map(({ tag }) => tag));
    return readMigrations(FOLDER).every(({ tag }) => applied.has(tag));
  } finally {
    await client.end({ timeout: 5 });
  }
}

async function applyMissing(
  tx: SlotTransaction,
  migrations: readonly Migration[],
  failpoint: Failpoint | undefined,
): Promise<void> {
  const [isolation] = await tx.q<{ level: string }>(
    "select current_setting('transaction_isolation') as level",
  );
  if (isolation?.level !== "read committed")
    throw new Error(
      "migrations need READ COMMITTED: something between us and the server changes it",
    );
  if ((await missing(tx, migrations)).length === 0) return;
  // Whoever else is at it is waited for as long as it takes; no lock of a table is held meanwhile.
  await tx.q("select pg_advisory_xact_lock($1::int8)", [LOCK]);
  const left = await missing(tx, migrations);
  for (const migration of left) await applyOne(tx, migration, failpoint);
}

/** Those that were not applied yet. @throws MigrationError when one was, in another form */
async function missing(
  tx: SlotTransaction,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const [known] = await tx.q<{ there: boolean }>(
    "select to_regclass('berth_migrations') is not null as there",
  );
  if (!known?.there) return migrations;
  const rows = await tx.q<{ tag: string; hash: string }>("select tag, hash from berth_migrations");
  const applied = new Map(rows.map(({ tag, hash }) => [tag, hash]));
  return migrations.filter(({ tag, hash }) => {
    const before = applied.get(tag);
    if (before !== undefined && before !== hash)
      throw new MigrationError(
        tag,
        "was applied in another form: this database is not this version's",
      );
    return before === undefined;
  });
}

async function applyOne(
  tx: SlotTransaction,
  { tag, hash, statements }: Migration,
  failpoint: Failpoint | undefined,
): Promise<void> {
  await step(tag, 0, () => tx.q(`set local lock_timeout = ${LOCK_MS}`));
  await step(tag, 0, () =>
    tx.q(
      "create table if not exists berth_migrations (tag text primary key, hash text not null, at int8 not null)",
    ),
  );
  for (const [at, statement] of statements.entries()) {
    await step(tag, at + 1, () => tx.q(statement));
    if (failpoint) await failpoint("migrate.step");
  }
  await step(tag, statements.length + 1, () =>
    tx.q(
      "insert into berth_migrations values ($1, $2, (extract(epoch from clock_timestamp()) * 1000)::int8)",
      [tag, hash],
    ),
  );
}

/** A statement of a migration, and which one it was when it fails. Lost connections keep their own error. */
async function step(tag: string, number: number, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined || !/^[0-9A-Z]{5}$/.test(state) || /^(08|57P)/.test(state)) throw error;
    const said = error instanceof Error ? error.message : "";
    throw new MigrationError(tag, why(state, number, said), error);
  }
}

function why(state: string, number: number, said: string): string {
  if (IN_THE_WAY.has(state))
    return `waits for a lock that others hold (statement ${number}): end their transaction, or try when less is going on`;
  if (state === NOT_ALLOWED)
    return `may not be applied by this role (${said}): run \`berth migrate\` as the role that owns the tables`;
  return `failed at its statement ${number} (${state}: ${said})`;
}

/** As Drizzle Kit writes them: a journal, and a file each with marks between the statements. */
function readMigrations(folder: URL): Migration[] {
  const journal = JSON.parse(readFileSync(new URL("meta/_journal.json", folder), "utf8")) as {
    entries: { tag: string }[];
  };
  return journal.entries.map(({ tag }) => {
    const text = readFileSync(new URL(`${tag}.sql`, folder), "utf8");
    return {
      tag,
      hash: createHash("sha256").update(text).digest("hex"),
      statements: text.split("--> statement-breakpoint").filter((part) => part.trim() !== ""),
    };
  });
}
