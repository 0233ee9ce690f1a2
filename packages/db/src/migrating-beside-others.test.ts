/** Migrations beside servers that serve: all or nothing, never in anybody's way for long. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeEach, afterEach, expect, test } from "vitest";
import { MigrationError, migrate } from "./migrate.ts";
import { SlotPool, type SlotTransaction } from "./slot-pool.ts";
import { type TestDatabase, testDatabase } from "./testing/index.ts";
import { waitForLockWaiters } from "./testing/wait-for.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-migrations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Migrations of a version of its own: name to statements. */
function version(name: string, migrations: Readonly<Record<string, readonly string[]>>): URL {
  const dir = join(folder, name);
  mkdirSync(join(dir, "meta"), { recursive: true });
  const entries = Object.keys(migrations).map((tag) => ({ tag }));
  writeFileSync(join(dir, "meta/_journal.json"), JSON.stringify({ entries }));
  for (const [tag, statements] of Object.entries(migrations))
    writeFileSync(join(dir, `${tag}.sql`), statements.join("\n--> statement-breakpoint\n"));
  return pathToFileURL(`${dir}/`);
}

const FIRST = { "0000_first": ["create table things (id int primary key)"] };
const SECOND = {
  "0001_second": ["alter table things add column note text", "create table more (id int)"],
};
const BROKEN = {
  "0001_second": ["create table more (id int)", "insert into things values (1), (1)"],
};

/** Work in a transaction of somebody else's. */
async function beside<T>(work: (tx: SlotTransaction) => Promise<T>): Promise<T> {
  const bounds = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
  const others = new SlotPool(db.url, { slots: 1, applicationName: "test-other", bounds });
  return others.tx(work).finally(() => others.end());
}

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase({ empty: true });
  await migrate(db.url, { folder: version("one", FIRST) });
});
afterEach(() => db.close());

const tables = async () =>
  (
    await db.sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
     order by 1`
  ).map(({ name }) => name);

async function failure(work: Promise<void>): Promise<MigrationError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MigrationError)) throw new Error("it went otherwise", { cause: error });
  return error;
}

test("eight servers that start at once apply it once, whoever comes first", async () => {
  const two = version("two", { ...FIRST, ...SECOND });
  await Promise.all(Array.from({ length: 8 }, () => migrate(db.url, { folder: two })));
  expect(await db.sql`select tag from berth_migrations order by tag`).toEqual([
    { tag: "0000_first" },
    { tag: "0001_second" },
  ]);
});

test("one that fails half-way leaves nothing, and says which, where and why", async () => {
  const error = await failure(
    migrate(db.url, { folder: version("broken", { ...FIRST, ...BROKEN }) }),
  );
  expect(error.migration).toBe("0001_second");
  expect(error.message).toMatch(
    /^migration 0001_second failed at its statement 2 \(23505: .*; nothing was changed$/,
  );
  expect(await tables()).toEqual(["berth_migrations", "things"]);
  await migrate(db.url, { folder: version("mended", { ...FIRST, ...SECOND }) });
  expect(await tables()).toEqual(["berth_migrations", "more", "things"]);
});

test("a server of an older version leaves a newer database as it is", async () => {
  const two = version("ahead", { ...FIRST, ...SECOND });
  await migrate(db.url, { folder: two });
  await migrate(db.url, { folder: version("one", FIRST) });
  expect(await tables()).toEqual(["berth_migrations", "more", "things"]);
});

test("where nothing is missing no lock is taken: it goes through beside another that is stuck", async () => {
  await beside(async ({ q }) => {
    await q("lock table things in access exclusive mode");
    await migrate(db.url, { folder: version("one", FIRST) });
    await q(`select pg_advisory_xact_lock(${0x6265727468}::int8)`);
    await migrate(db.url, { folder: version("one", FIRST) });
  });
});

test("it gives way to whoever holds a lock: others wait for it 2 s at most, and it goes through later", async () => {
  const two = version("gives-way", { ...FIRST, ...SECOND });
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const { promise: holding, resolve: held } = Promise.withResolvers<void>();
  const reader = beside(async ({ q }) => {
    await q("select * from things");
    held();
    await over;
  });
  await holding;
  const gaveWay: string[] = [];
  const { promise: blocked, resolve: tell } = Promise.withResolvers<void>();
  const migrating = migrate(db.url, {
    folder: two,
    blocked: (tag) => {
      gaveWay.push(tag);
      tell();
    },
  });
  // While it waits for its lock, everybody else waits behind it.
  await waitForLockWaiters(db.sql, 1);
  const asked = performance.now();
  await db.sql`insert into things values (1)`;
  expect(performance.now() - asked).toBeLessThan(5_000);
  await blocked;
  expect(gaveWay[0]).toBe("0001_second");
  expect(await tables()).toEqual(["berth_migrations", "things"]);
  end();
  await reader;
  await migrating;
  expect(await tables()).toEqual(["berth_migrations", "more", "things"]);
});

test("one that never gets its locks is given up with a sentence, and nothing was changed", async () => {
  const two = version("blocked", { ...FIRST, ...SECOND });
  await beside(async ({ q }) => {
    await q("select * from things");
    const error = await failure(migrate(db.url, { folder: two, blockedMs: 0 }));
    expect(error.message).toContain("0001_second waits for a lock that others hold (statement 1)");
  });
  expect(await tables()).toEqual(["berth_migrations", "things"]);
});
