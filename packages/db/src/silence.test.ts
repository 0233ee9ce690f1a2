/** Connections that nobody answers on any more are noticed, and not used again. */
import { type AddressInfo, createServer } from "node:net";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Client, createClient } from "./client.ts";
import { isTransient } from "./errors.ts";
import { type FaultProxy, type TestDatabase, faultProxy, testDatabase } from "./testing/index.ts";

const SILENT_MS = 1_000;

let database: TestDatabase;
let proxy: FaultProxy;
const clients: Client[] = [];

beforeAll(async () => {
  database = await testDatabase();
  proxy = await faultProxy(database.url);
});
afterEach(async () => {
  proxy.set();
  for (const client of clients.splice(0)) await client.end({ timeout: 0 });
});
afterAll(async () => {
  await proxy.close();
  await database.close();
});

function reader(url: string): Client {
  const client = createClient(url, {
    applicationName: "test-silence",
    max: 2,
    idle_timeout: SILENT_MS / 2_000,
    silentMs: SILENT_MS,
  });
  clients.push(client);
  return client;
}

const refusal = (work: PromiseLike<unknown>) =>
  work.then(
    () => "answered",
    (error: unknown) => error,
  );

test("a read into a black hole fails as a lost connection, and the next one is answered over another", async () => {
  const sql = reader(proxy.url);
  await sql`select 1`;
  proxy.set({ kind: "blackhole" });
  const error = await refusal(sql`select 2 as two`);
  expect(error).toMatchObject({ code: "ETIMEDOUT" });
  expect(isTransient(error)).toBe(true);
  expect(proxy.counts.held).toBeGreaterThan(0);
  proxy.set();
  expect([...(await sql`select 3 as three`)]).toEqual([{ three: 3 }]);
});

test("a statement that takes its time is waited for as long as others speak of it", async () => {
  const sql = reader(database.url);
  const rows =
    await sql`select pg_sleep(0.01), repeat('x', 100000) as x from generate_series(1, 150)`;
  expect(rows).toHaveLength(150);
});

test("a peer that accepts and hangs up is an error, not another try without end", async () => {
  const rude = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  await once(rude, "listening");
  const { port } = rude.address() as AddressInfo;
  const sql = reader(Object.assign(new URL(database.url), { port: String(port) }).href);
  const error = await refusal(sql`select 1`);
  expect(isTransient(error)).toBe(true);
  rude.close();
});

test("a database that was away for many tries is asked again at once when it is back", async () => {
  const sql = reader(proxy.url);
  proxy.set({ kind: "refuse" });
  for (let n = 0; n < 12; n += 1) expect(isTransient(await refusal(sql`select 1`))).toBe(true);
  proxy.set();
  const since = performance.now();
  await sql`select 1`;
  // The driver's own pause would be 20 s by now.
  expect(performance.now() - since).toBeLessThan(5_000);
});
