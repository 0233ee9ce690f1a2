/** F18: the server with a database of its own, killed, started twice, and started beside what others left. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Berth, createBerth } from "@berth/client";
import { afterEach, expect, test } from "vitest";
import { examine } from "../../src/index.ts";
import { type SpawnedServer, actors, pool, spawnBerth, spawnEmbedded } from "../harness.ts";
import { expectNoCrash, faultRun } from "./kit.ts";

const KILLS = 10;
const PATIENCE = { timeout: 60_000 };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-embedded-"));
  // The database's account has to get there: otherwise its data would be elsewhere, and stay.
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

const tokenIn = (dataDir: string) => readFileSync(join(dataDir, "admin-key"), "utf8").trim();
const urlIn = (dataDir: string) => readFileSync(join(dataDir, "database-url"), "utf8").trim();
const postgresIn = (dataDir: string) => join(dataDir, "postgres");

/** Processes of a database on this folder. */
function processesOn(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false;
      }
    });
}

async function untilGone(folder: string): Promise<void> {
  await expect.poll(() => processesOn(folder), PATIENCE).toEqual([]);
}

test("ten times killed with its database: every booking is there again, and no process is left", async () => {
  await faultRun("F18", KILLS, async ({ count, random }) => {
    const dataDir = newFolder();
    let server: SpawnedServer = await spawnEmbedded(dataDir);
    const token = tokenIn(dataDir);
    const { poolId } = await actors(server.url, token).fleet(pool(8, 8));
    const folder = postgresIn(dataDir);
    const acknowledged: string[] = [];
    let killed = 0;
    try {
      for (; killed < count; killed += 1) {
        const berth = createBerth({ url: server.url, token, maxRetries: 0 });
        const booking = bookUntilGone(berth, poolId, acknowledged);
        const before = acknowledged.length;
        await expect.poll(() => acknowledged.length, PATIENCE).toBeGreaterThan(before);
        await delay(random() * 200);
        expect(await server.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
        await booking;
        server = await spawnEmbedded(dataDir);
        expectNoCrash(server);
        const { reservations } = actors(server.url, token).admin;
        const ask = { tenantId: "t-own", poolId, limit: 200 };
        const there = new Set<string>();
        for await (const { id } of reservations.list(ask)) there.add(id);
        expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
      }
      expect(acknowledged.length).toBeGreaterThanOrEqual(killed);
      expect((await examine(urlIn(dataDir))).healthy).toBe(true);
    } finally {
      await server.kill("SIGTERM");
    }
    await untilGone(folder);
    return `${killed} servers killed with their database, ${acknowledged.length} bookings, 0 lost, no process left, doctor clean`;
  });
}, 600_000);

async function bookUntilGone(berth: Berth, poolId: string, acknowledged: string[]): Promise<void> {
  const devices = [{ class: "gpu" as const, count: 1 }];
  for (;;) {
    try {
      const ask = { tenantId: "t-own", poolId, devices, duration: "1h" };
      const { id } = await berth.reservations.create(ask);
      acknowledged.push(id);
      // Room for the next ones.
      await berth.reservations.release({ tenantId: "t-own", reservationId: id });
    } catch {
      return;
    }
  }
}

test("a stale pid file that names somebody else's living process kills nobody and stops no start", async () => {
  const dataDir = newFolder();
  const first = await spawnEmbedded(dataDir);
  await first.kill("SIGTERM");
  const folder = postgresIn(dataDir);
  await untilGone(folder);
  const bystander = spawn("sleep", ["120"]);
  try {
    const lines = [bystander.pid, folder, 0, 5432, "", "127.0.0.1", 0, "ready", ""];
    writeFileSync(join(folder, "postmaster.pid"), lines.join("\n"));
    const again = await spawnEmbedded(dataDir);
    expect((await examine(urlIn(dataDir))).healthy).toBe(true);
    expect(await again.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(bystander.exitCode ?? bystander.signalCode).toBe(null);
    process.stdout.write(
      "F18: 1 stale pid file of a living stranger, nobody killed, doctor clean\n",
    );
  } finally {
    bystander.kill("SIGKILL");
  }
}, 300_000);

test("of two starts at once on one folder one serves, the other says who has it and ends", async () => {
  const dataDir = newFolder();
  const starts = [0, 1].map(() => spawnBerth(["serve"], { PORT: "0", BERTH_DATA_DIR: dataDir }));
  const [winner, loser] = await firstToListen(starts);
  try {
    const { code } = await loser.ended;
    expect(code).toBe(2);
    expect(loser.stderr()).toMatch(/already runs/);
    expect(loser.stderr()).not.toMatch(/\n {4}at /);
    expect((await examine(urlIn(dataDir))).healthy).toBe(true);
    if (process.getuid?.() === 0) expectNobodyIsRoot(postgresIn(dataDir));
    process.stdout.write(
      "F18: 2 starts at once, 1 served, 1 refused with the other's name, doctor clean\n",
    );
  } finally {
    winner.process.kill("SIGTERM");
    await winner.ended;
  }
  await untilGone(postgresIn(dataDir));
}, 300_000);

type Started = ReturnType<typeof spawnBerth>;

async function firstToListen(starts: readonly Started[]): Promise<[Started, Started]> {
  const { promise, resolve } = Promise.withResolvers<number>();
  for (const [n, start] of starts.entries())
    start.onStderr((text) => text.includes("listens on") && resolve(n));
  const n = await promise;
  const [winner, loser] = [starts[n], starts[1 - n]];
  if (!winner || !loser) throw new Error("two were started");
  return [winner, loser];
}

/** Started as root, the database runs as somebody else. */
function expectNobodyIsRoot(folder: string): void {
  const pids = processesOn(folder);
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of pids)
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).not.toMatch(/^Uid:\t0\t/m);
}
