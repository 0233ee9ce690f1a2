/** A temporary server is copied from a template where there is one, and made anew where there is none that works. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createClient } from "../client.ts";
import { isMigrated } from "../migrate.ts";
import type { RunningPostgres } from "./start-postgres.ts";
import { startTemporary } from "./template.ts";

let scratch: string;
let cache: string;
const running: RunningPostgres[] = [];
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "berth-template-"));
  cache = join(scratch, "cache");
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function start(from: string | null): Promise<RunningPostgres> {
  const server = await startTemporary({ database: "berth", cache: from });
  running.push(server);
  return server;
}

async function ask(url: string, statement: string): Promise<readonly unknown[]> {
  const client = createClient(url, { applicationName: "test", max: 1 });
  try {
    return [...(await client.unsafe(statement))];
  } finally {
    await client.end();
  }
}

const templates = () => readdirSync(cache).filter((name) => name.startsWith("template-"));

test("two first starts at once make one template, and each has a database of its own", async () => {
  // The server's account may be another than ours.
  mkdirSync(cache, { mode: 0o755 });
  chmodSync(scratch, 0o755);
  const [one, other] = await Promise.all([start(cache), start(cache)]);
  expect(readdirSync(cache)).toEqual(templates());
  expect(templates()).toHaveLength(1);
  expect(one.dir).not.toBe(other.dir);
  await ask(one.url("berth"), "create table mine (n int)");
  expect(await ask(other.url("berth"), "select to_regclass('mine') as there")).toEqual([
    { there: null },
  ]);
  for (const { url } of [one, other]) expect(await isMigrated(url("berth"))).toBe(true);
});

test("a template is for its owner's eyes only, and what is copied from it too", async () => {
  const [name = ""] = templates();
  expect(statSync(join(cache, name)).mode & 0o777).toBe(0o700);
  expect(statSync(join(cache, name)).uid).toBe(process.getuid?.());
  const server = await start(cache);
  expect(statSync(server.dir).mode & 0o777).toBe(0o700);
  await server.stop();
  expect(existsSync(server.dir)).toBe(false);
  expect(templates()).toEqual([name]);
});

test("a copy takes no care for power cuts, which nothing of it outlives", async () => {
  const server = await start(cache);
  expect(
    await ask(
      server.url("berth"),
      "select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by 1",
    ),
  ).toEqual([
    { name: "fsync", setting: "off" },
    { name: "full_page_writes", setting: "off" },
    { name: "synchronous_commit", setting: "off" },
  ]);
});

test("a template that is damaged keeps nobody from starting, and is made anew", async () => {
  const [name = ""] = templates();
  rmSync(join(cache, name, "global"), { recursive: true });
  const server = await start(cache);
  expect(await isMigrated(server.url("berth"))).toBe(true);
  expect(templates()).toEqual([]);
  await start(cache);
  expect(templates()).toEqual([name]);
});

test("without a place for templates all is made anew", async () => {
  const file = join(scratch, "file");
  writeFileSync(file, "");
  for (const from of [null, join(file, "below")]) {
    const server = await start(from);
    expect(await isMigrated(server.url("berth"))).toBe(true);
  }
});
