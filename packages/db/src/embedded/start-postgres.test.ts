/** The embedded server is a real one: it keeps what it acknowledged and never outlives its parent. */
import { afterAll, afterEach, expect, test } from "vitest";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client.ts";
import { waitFor } from "../testing/wait-for.ts";
import { FolderInUse, type RunningPostgres, startPostgres } from "./start-postgres.ts";

/** One folder for all: making a database is what takes long. */
const scratch = mkdtempSync(join(tmpdir(), "berth-test-"));
const folder = join(scratch, "data");
// The server's account may be another than ours.
chmodSync(scratch, 0o755);
const running: RunningPostgres[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of running.splice(0)) await server.stop();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function start(options: Parameters<typeof startPostgres>[0]): Promise<RunningPostgres> {
  const server = await startPostgres(options);
  running.push(server);
  return server;
}
async function ask<T>(url: string, statement: string): Promise<T[]> {
  const client = createClient(url, { applicationName: "test", max: 1 });
  const rows: readonly unknown[] = await client.unsafe(statement);
  await client.end();
  return rows as T[];
}
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
const pidOf = (dir: string): number =>
  Number(readFileSync(join(dir, "postmaster.pid"), "utf8").split("\n")[0]);

/** A process that starts a server, tells where, and does nothing more. */
async function startElsewhere(
  options: object,
): Promise<{ child: ChildProcess; dir: string; url: string }> {
  const module = new URL("start-postgres.ts", import.meta.url).href;
  const script = `
    const { startPostgres } = await import(${JSON.stringify(module)});
    const server = await startPostgres(${JSON.stringify(options)});
    console.log(JSON.stringify({ dir: server.dir, url: server.url("postgres") }));
    setInterval(() => undefined, 1000);`;
  const args = ["--no-warnings", "--input-type=module", "-e", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, ...(JSON.parse(line.toString()) as { dir: string; url: string }) };
}

test("a temporary server runs with fsync on, only on loopback, asks for a password, and leaves nothing", async () => {
  const server = await start({ ephemeral: true });
  const rows = await ask(
    server.url("postgres"),
    `select name, setting from pg_settings
     where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses') order by 1`,
  );
  expect(rows).toEqual([
    { name: "fsync", setting: "on" },
    { name: "full_page_writes", setting: "on" },
    { name: "listen_addresses", setting: "127.0.0.1" },
    { name: "synchronous_commit", setting: "on" },
  ]);
  const stranger = Object.assign(new URL(server.url("postgres")), { password: "guess" }).href;
  await expect(ask(stranger, "select 1")).rejects.toMatchObject({ code: "28P01" });
  expect(statSync(server.dir).mode & 0o777).toBe(0o700);
  await server.stop();
  expect(existsSync(server.dir)).toBe(false);
});

test("after kill -9 of its parent no server is left, and acknowledged rows are there at the next start", async () => {
  const { child, dir, url } = await startElsewhere({ dir: folder });
  const pid = pidOf(dir);
  await ask(url, "create table lived (n int)");
  await ask(url, "insert into lived values (42)");
  child.kill("SIGKILL");
  await waitFor(async () => !isAlive(pid), "the orphan to go away");
  const again = await start({ dir: folder });
  expect(await ask(again.url("postgres"), "select n from lived")).toEqual([{ n: 42 }]);
});

test("a start right after kill -9 of the parent waits for the old server to leave", async () => {
  const { child } = await startElsewhere({ dir: folder });
  child.kill("SIGKILL");
  const again = await start({ dir: folder });
  expect(await ask(again.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
});

test("after kill -9 of the server itself the rows are there at the next start", async () => {
  const server = await start({ dir: folder });
  await ask(server.url("postgres"), "create table kept as select 42 as n");
  const pid = pidOf(server.dir);
  process.kill(pid, "SIGKILL");
  await waitFor(async () => !isAlive(pid), "the server to die");
  const again = await start({ dir: folder });
  expect(await ask(again.url("postgres"), "select n from kept")).toEqual([{ n: 42 }]);
});

test("kill -9 of the parent of a temporary server takes its folder along", async () => {
  const { child, dir } = await startElsewhere({ ephemeral: true });
  child.kill("SIGKILL");
  await waitFor(async () => !existsSync(dir), "the folder to go");
  expect(existsSync(dir)).toBe(false);
});

test("a second server on one folder is refused, naming the first one; the first runs on", async () => {
  const first = await start({ dir: folder });
  const refused = await startPostgres({ dir: folder }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(FolderInUse);
  expect(refused).toMatchObject({ pid: pidOf(first.dir), port: first.port });
  const beside = refused instanceof FolderInUse ? refused.url("postgres") : "";
  expect(await ask(beside, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await ask(first.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a pid file that names some other process kills nobody and stops no start", async () => {
  const first = await start({ dir: folder });
  await first.stop();
  const bystander = spawn("sleep", ["60"]);
  children.push(bystander);
  writeFileSync(
    join(first.dir, "postmaster.pid"),
    `${bystander.pid}\n${first.dir}\n0\n5432\n\n127.0.0.1\n0\nready\n`,
  );
  const again = await start({ dir: folder });
  expect(await ask(again.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
  expect(isAlive(bystander.pid ?? 0)).toBe(true);
});

test.runIf(process.getuid?.() === 0)(
  "root may keep the folder where the server's account cannot reach it",
  async () => {
    const secret = mkdtempSync(join(tmpdir(), "berth-0700-"));
    const dir = join(secret, "checkout", ".berth");
    mkdirSync(join(secret, "checkout"));
    const server = await start({ dir });
    expect(server.dir).not.toBe(dir);
    expect(realpathSync(join(dir, "moved-to"))).toBe(server.dir);
    expect(await ask(server.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
    await server.stop();
    for (const path of [secret, server.dir]) rmSync(path, { recursive: true, force: true });
  },
);

test("a folder with something else in it is refused and left as it is", async () => {
  const dir = join(scratch, "papers");
  mkdirSync(dir);
  writeFileSync(join(dir, "thesis.tex"), "years of work");
  const before = statSync(dir);
  await expect(startPostgres({ dir })).rejects.toThrow("is not empty");
  expect(readdirSync(dir)).toEqual(["thesis.tex"]);
  expect([statSync(dir).uid, statSync(dir).mode]).toEqual([before.uid, before.mode]);
});

test.runIf(process.platform === "linux")(
  "the server is handed none of our keys, only what a program needs to run",
  async () => {
    const ours = { BERTH_BOOTSTRAP_TOKEN: "not-for-it", BERTH_SEAL_KEY: "nor-this", PGDATA: "/" };
    Object.assign(process.env, ours);
    try {
      const server = await start({ dir: folder });
      const environ = readFileSync(`/proc/${pidOf(server.dir)}/environ`, "utf8");
      const names = environ.split("\0").flatMap((entry) => entry.split("=", 1));
      expect(names).toContain("PATH");
      expect(environ).not.toMatch(/not-for-it|nor-this/);
      const known =
        /^(?:PATH|HOME|LANG|PWD|OLDPWD|SHLVL|_|(?:LC|LD|PG|POSTMASTER)_?\w*|BERTH_(?:STOP|TEMPORARY)|)$/;
      expect(names.filter((name) => !known.test(name))).toEqual([]);
    } finally {
      for (const name of Object.keys(ours)) Reflect.deleteProperty(process.env, name);
    }
  },
);

test("a port in use is refused with PostgreSQL's own words", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await expect(startPostgres({ dir: folder, port })).rejects.toThrow(/in use/);
  other.close();
});
