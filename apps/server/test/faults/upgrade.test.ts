/** F16: the released version and this one side by side on one database, under load, with the migration in between. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createBerth } from "@berth/client";
import { migrate } from "@berth/db";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { type SpawnedServer, pool, spawnBerth, spawnServer } from "../harness.ts";
import { type Balancer, balancer, expectSound, faultRun, startVictim } from "./kit.ts";
import { startLoad } from "./load.ts";
import { METRICS } from "./together.ts";

/** The first version that servers are upgraded from. */
const PREVIOUS = "38f5ed3";
const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const MIGRATIONS = join(ROOT, "packages/db/migrations");
const UNDISTURBED = 30;

test("an upgrade under load: new servers beside old ones, a migration amid it, no call fails", async (context) => {
  const previous = previousVersion();
  if (previous === null) {
    process.stdout.write(
      `F16: SKIPPED, this clone has no commit ${PREVIOUS}: the upgrade from the previous version was NOT tried\n`,
    );
    context.skip(`this clone has no commit ${PREVIOUS}`);
    return;
  }
  await faultRun("F16", 1, async ({ random }) => {
    const database = await testDatabase({ empty: true });
    const servers: SpawnedServer[] = [];
    const fronts: Balancer[] = [];
    const main = join(previous, "apps/server/src/main.ts");
    const old = await spawnServer(
      database.url,
      { ...METRICS, BERTH_RATE_LIMIT: "1000000000" },
      main,
    );
    servers.push(old);
    const { fleet, token } = old.actors;
    const pools = [await fleet(pool(16, 8)), await fleet(pool(16, 8))];
    const key = await token("t-a");
    const front = async (...to: SpawnedServer[]) => {
      const made = await balancer(...to);
      fronts.push(made);
      return createBerth({ url: made.url, token: key, maxRetries: 6, timeoutMs: 60_000 });
    };
    const load = startLoad({
      clients: [await front(old)],
      tenantId: "t-a",
      poolIds: pools.map(({ poolId }) => poolId),
      random,
    });
    try {
      await load.acked(UNDISTURBED);
      // 1. This version's migrations, by the command that operators use, with the old server at work.
      const migrating = spawnBerth(["migrate"], { DATABASE_URL: database.url });
      expect(await migrating.ended, migrating.stderr()).toEqual({ code: 0, signal: null });
      await load.acked(UNDISTURBED);
      // 2. This version's server beside it.
      const young = await startVictim(database.url);
      servers.push(young);
      load.use(await front(old), await front(young));
      await load.acked(UNDISTURBED);
      // 3. A migration that there is not yet, as the next version may bring one, with both at work.
      const folder = withOneMore();
      await migrate(database.url, { folder: pathToFileURL(`${folder}/`) });
      rmSync(folder, { recursive: true });
      const [added] = await database.sql<{ there: number }[]>`
        select count(*)::int as there from berth_migrations where tag = '0099_only_a_test'`;
      expect(added?.there).toBe(1);
      await load.acked(UNDISTURBED);
      // 4. The old one goes.
      load.use(await front(old, young));
      await load.acked(UNDISTURBED);
      expect(await old.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      await load.acked(UNDISTURBED);
      await load.stop();
      expect(
        load.calls.filter(({ outcome, repeatable }) => outcome !== "ack" && repeatable),
      ).toEqual([]);
      await database.sql`alter table reservations drop column only_a_test`;
      await database.sql`drop table only_a_test`;
      await database.sql`delete from berth_migrations where tag = '0099_only_a_test'`;
      await expectSound({ database, load, servers });
      return `1 upgrade from ${PREVIOUS} under load, this version's migrations and one more amid it, ${load.count("ack")} acks, 0 errors, doctor clean`;
    } finally {
      await load.stop();
      for (const server of servers) await server.kill("SIGKILL");
      for (const each of fronts) await each.close();
      await database.close();
      rmSync(previous, { recursive: true });
    }
  });
}, 600_000);

/** A folder with the previous version's sources on this checkout's dependencies; null when git has it not. */
function previousVersion(): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: ROOT,
      maxBuffer: 256 * 1_048_576,
      stdio: ["ignore", "pipe", "ignore"],
    });
  let archive: Buffer;
  try {
    archive = git("archive", "--format=tar", PREVIOUS, "package.json", "packages", "apps/server");
  } catch {
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), "berth-previous-"));
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const rooms = readdirSync(join(folder, "packages")).map((name) => `packages/${name}`);
  for (const room of [...rooms, "apps/server"]) {
    const links = join(ROOT, room, "node_modules");
    if (!existsSync(links)) continue;
    // As they are: those between our own packages are relative, and stay among the previous version's.
    mkdirSync(join(folder, room), { recursive: true });
    cpSync(links, join(folder, room, "node_modules"), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/node_modules\/\.(bin|cache)/.test(path),
    });
  }
  return folder;
}

/** This version's migrations and a further one, as another version would bring it. */
function withOneMore(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-migrations-"));
  cpSync(MIGRATIONS, folder, { recursive: true });
  const path = join(folder, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(path, "utf8")) as { entries: { tag: string }[] };
  writeFileSync(
    path,
    JSON.stringify({ ...journal, entries: [...journal.entries, { tag: "0099_only_a_test" }] }),
  );
  writeFileSync(
    join(folder, "0099_only_a_test.sql"),
    `create table only_a_test (id text primary key);
--> statement-breakpoint
alter table reservations add column only_a_test text;
--> statement-breakpoint
create index reservations_only_a_test on reservations (only_a_test) where only_a_test is not null;`,
  );
  return folder;
}
