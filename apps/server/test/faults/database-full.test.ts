/** F11 and F12: the database has no disk left, or no connection. */
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "@berth/db";
import { type OwnCluster, type TestDatabase, ownCluster } from "@berth/db/testing";
import { expect, test } from "vitest";
import { type Work, acked, underWork, untilAck, untilReady } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

/** Room for a small cluster: its log is kept short. */
const DISK_MIB = 128;
const SMALL = { max_wal_size: "48MB", min_wal_size: "32MB", shared_buffers: "16MB" };
const FULL_MS = 3_000;

test("a full disk is UNAVAILABLE to callers, the servers stay up, and after room and a restart every ack is there", async ({
  skip,
}) => {
  const disk = smallDisk();
  if (disk === null) {
    process.stdout.write(
      "F11: SKIPPED: a small disk cannot be mounted here (needs Linux and root)\n",
    );
    return skip("no right to mount");
  }
  try {
    await faultRun("F11", 1, async (run) => {
      const cluster = await ownCluster({ within: disk.path, settings: SMALL });
      try {
        return await underWork({ run, database: cluster.database }, async (work) => {
          const down: number[] = [];
          for (let n = 0; n < run.count; n += 1) down.push(await fillAndFree(cluster, disk, work));
          return `${run.count} disk filled to the last byte, ${down.filter(Boolean).length} servers of it gave up`;
        });
      } finally {
        await cluster.database.close();
      }
    });
  } finally {
    disk.remove();
  }
}, 600_000);

/** 1 when PostgreSQL itself shut down for it. */
async function fillAndFree(cluster: OwnCluster, disk: Disk, { servers, load }: Work) {
  await acked(load, 20);
  const before = load.count("unavailable");
  disk.fill();
  while (load.count("unavailable") === before) await delay(20);
  await delay(FULL_MS);
  for (const { url } of servers) expect((await fetch(`${url}/healthz`)).status).toBe(200);
  disk.free();
  const alive = cluster.processes().length > 0;
  if (alive) await cluster.end("SIGINT");
  await cluster.start();
  for (const server of servers) await untilReady(server, true);
  return alive ? 0 : 1;
}

interface Disk {
  readonly path: string;
  /** Until there is not a byte left. */
  fill(): void;
  free(): void;
  remove(): void;
}

/** A disk in memory; null where none can be mounted. */
function smallDisk(): Disk | null {
  const scratch = mkdtempSync(join(tmpdir(), "berth-disk-"));
  // The server's account has to get there: otherwise its data would be elsewhere.
  chmodSync(scratch, 0o755);
  const path = join(scratch, "disk");
  mkdirSync(path);
  const options = ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=0755`, "tmpfs", path];
  if (spawnSync("mount", options).status !== 0) {
    rmSync(scratch, { recursive: true });
    return null;
  }
  const filler = join(path, "filler");
  return {
    path,
    fill() {
      const file = openSync(filler, "w");
      for (let size = 1 << 20; size >= 512;) {
        try {
          if (writeSync(file, Buffer.alloc(size)) < size) size /= 2;
        } catch {
          size /= 2;
        }
      }
      closeSync(file);
    },
    free: () => rmSync(filler),
    remove() {
      spawnSync("umount", [path]);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

const CONNECTIONS = 24;
const HELD_MS = 3_000;
const RECOVERY_MS = 2_000;

test("no connection left is UNAVAILABLE with Retry-After, and over as soon as there is one", async () => {
  await faultRun("F12", 1, async (run) => {
    const cluster = await ownCluster({
      settings: { max_connections: CONNECTIONS, superuser_reserved_connections: 0 },
    });
    try {
      const environment = { BERTH_DB_CONNECTIONS: "8" };
      const how = { run, database: cluster.database, environment, servers: 1, callers: 4 };
      return await underWork(how, async (work) => {
        let taken = 0;
        let slowest = 0;
        for (let n = 0; n < run.count; n += 1) {
          await acked(work.load, 20);
          const others = await takeAll(cluster.database);
          taken = others.taken;
          expect(taken).toBeGreaterThan(0);
          expect(await whileNoneIsLeft(work)).toBe("1");
          await others.give();
          slowest = Math.max(slowest, await untilAck(work.load));
        }
        expect(slowest).toBeLessThan(RECOVERY_MS);
        return `${taken} of ${CONNECTIONS} connections held by others, ${run.count} times for 3 s, answers ${Math.round(slowest)} ms later`;
      });
    } finally {
      await cluster.database.close();
    }
  });
}, 600_000);

/** The `retry-after` of a refusal. */
async function whileNoneIsLeft({ servers, load, poolIds, token }: Work): Promise<string | null> {
  const before = load.count("unavailable");
  await delay(HELD_MS);
  expect(load.count("unavailable")).toBeGreaterThan(before);
  const ask = {
    tenantId: "t-a",
    poolId: poolIds[0],
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
    idempotencyKey: "none-is-left",
  };
  const refused = await servers[0]?.actors.http("reservations.create", ask, { token });
  expect(refused).toMatchObject({ status: 503, body: { code: "UNAVAILABLE", retryable: true } });
  return refused?.headers.get("retry-after") ?? null;
}

/** Takes every connection of the cluster, those of our servers, too: they are ended and find none again. */
async function takeAll({ url }: TestDatabase) {
  // A connection of the test's own, from before there are none.
  const own = openDatabase(url, { connections: 1, writers: 1, applicationName: "test" });
  const ask = (text: string) => own.slots.run<{ count: number }>(text);
  await ask("select 1");
  const hogs = openDatabase(url, { connections: 1, writers: CONNECTIONS, applicationName: "hog" });
  const release = new AbortController();
  const taking = Array.from({ length: CONNECTIONS }, async () => {
    while (!release.signal.aborted) {
      try {
        await hogs.slots.run("select pg_sleep(60)");
      } catch {
        // Full, or ended below.
        await delay(5);
      }
    }
  });
  const sessions = (of: string, what: string) =>
    ask(
      `select count(${what})::int as count from pg_stat_activity where application_name like '${of}%'`,
    );
  const ended = async (of: string) =>
    (await sessions(of, "pg_terminate_backend(pid)"))[0]?.count ?? 0;
  while ((await ended("berth")) > 0) await delay(10);
  // Those that were ended make room; it is theirs as soon as one of the others has tried again.
  let taken = (await sessions("hog", "pid"))[0];
  for (; (taken?.count ?? 0) === 0; [taken] = await sessions("hog", "pid")) await delay(10);
  return {
    taken: taken?.count ?? 0,
    async give(): Promise<void> {
      release.abort();
      await ended("hog");
      await Promise.all([...taking, hogs.close(), own.close()]);
    },
  };
}
