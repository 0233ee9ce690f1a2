/**
 * Brings a database to this version's schema. Drizzle's own migrator runs on the driver's transactions,
 * which go on over another connection when theirs dies; a migration is the last place for that.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createClient } from "./client.ts";
import { SlotPool, type SlotTransaction } from "./slot-pool.ts";

const FOLDER = new URL("../migrations/", import.meta.url);
/** "berth" in ASCII: whoever migrates this database waits for the one that is at it. */
const LOCK = 0x6265727468;
const PATIENCE_MS = 600_000;

interface Migration {
  readonly tag: string;
  readonly hash: string;
  readonly statements: readonly string[];
}

/**
 * Applies every migration that is missing, all in one transaction, forward only. A database that is ahead
 * of this version is left as it is: newer servers may already run on it.
 * @throws when an applied migration is not the one that this version has
 */
export async function migrate(url: string): Promise<void> {
  const migrations = readMigrations();
  const slots = new SlotPool(url, {
    slots: 1,
    applicationName: "berth-migrate",
    answerMs: PATIENCE_MS,
    bounds: { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 },
  });
  try {
    await slots.tx((tx) => applyMissing(tx, migrations));
  } finally {
    await slots.end();
  }
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
    return readMigrations().every(({ tag }) => applied.has(tag));
  } finally {
    await client.end({ timeout: 5 });
  }
}

async function applyMissing(tx: SlotTransaction, migrations: readonly Migration[]): Promise<void> {
  const [isolation] = await tx.q<{ level: string }>(
    "select current_setting('transaction_isolation') as level",
  );
  if (isolation?.level !== "read committed")
    throw new Error(
      "migrations need READ COMMITTED: something between us and the server changes it",
    );
  await tx.q("select pg_advisory_xact_lock($1::int8)", [LOCK]);
  await tx.q(
    "create table if not exists berth_migrations (tag text primary key, hash text not null, at int8 not null)",
  );
  const rows = await tx.q<{ tag: string; hash: string }>("select tag, hash from berth_migrations");
  const applied = new Map(rows.map(({ tag, hash }) => [tag, hash]));
  for (const { tag, hash, statements } of migrations) {
    const before = applied.get(tag);
    if (before !== undefined && before !== hash)
      throw new Error(
        `migration ${tag} was applied in another form: this database is not this version's`,
      );
    if (before !== undefined) continue;
    for (const statement of statements) await tx.q(statement);
    await tx.q(
      "insert into berth_migrations values ($1, $2, (extract(epoch from clock_timestamp()) * 1000)::int8)",
      [tag, hash],
    );
  }
}

/** As Drizzle Kit writes them: a journal, and a file each with marks between the statements. */
function readMigrations(): Migration[] {
  const journal = JSON.parse(readFileSync(new URL("meta/_journal.json", FOLDER), "utf8")) as {
    entries: { tag: string }[];
  };
  return journal.entries.map(({ tag }) => {
    const text = readFileSync(new URL(`${tag}.sql`, FOLDER), "utf8");
    return {
      tag,
      hash: createHash("sha256").update(text).digest("hex"),
      statements: text.split("--> statement-breakpoint").filter((part) => part.trim() !== ""),
    };
  });
}
