/** Text that callers choose breaks no header, log line or stream. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { ADMIN_KEY, type SpawnedServer, pool, spawnServer } from "../harness.ts";
import { rawRequest, sendRaw } from "./raw-socket.ts";

let database: TestDatabase;
let server: SpawnedServer;
beforeAll(async () => {
  database = await testDatabase();
  server = await spawnServer(database.url, { LOG_LEVEL: "trace" });
});
afterAll(async () => {
  await server.kill();
  await database.close();
});

/** Each tries to be the start of something else where it is written. */
const BREAKING = [
  "a\r\nx-evil: 1",
  "a\nevent: evil\ndata: {}\n\n",
  'a"}\n{"level":60}',
  "a\u001b[31m",
];
/** What is taken: nothing in it ends a line, yet readers of lists, quotes or markup may stumble. */
const TAKEN = [
  'a"}, {"x":1',
  "<script>alert(1)</script>",
  "=cmd()",
  "a\u202Eb",
  "a\u2028b",
  "'; drop--",
];

it.each(BREAKING)("%j is refused in every free text", async (text) => {
  const { actors } = server;
  const { poolId } = await actors.fleet(pool(1, 2));
  const booking = {
    tenantId: "t-a",
    poolId,
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
  };
  for (const [method, input] of [
    ["fleet.putTenant", { tenantId: "t-x", name: text }],
    ["fleet.putSite", { tenantId: "t-own", name: text, region: "r" }],
    ["reservations.create", { ...booking, projectId: text }],
    ["reservations.create", { ...booking, idempotencyKey: text }],
    ["access.createKey", { tenantId: "t-a", name: text, role: "tenant-viewer" }],
  ] as const) {
    const { status, body } = await actors.http(method, input);
    expect([method, status, body["code"]]).toEqual([method, 400, "INVALID_INPUT"]);
  }
});

it("what is taken comes back as it was given, and each line of the log is one object", async () => {
  const { actors } = server;
  const abort = new AbortController();
  const stream = await fetch(`${server.url}/api/compute/events/stream?tenantId=t-a`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    signal: abort.signal,
  });
  const wanted = TAKEN.map((name, n) => ({
    tenantId: "t-a",
    role: "tenant-viewer",
    name: `${name}${n}`,
  }));
  const accepted: string[] = [];
  for (const input of wanted) {
    const { status, body } = await actors.http("access.createKey", input);
    expect([200, 400]).toContain(status);
    if (status === 200) accepted.push((body["key"] as { name: string }).name);
  }
  expect(accepted.length).toBeGreaterThan(3);
  expect(wanted.map(({ name }) => name)).toEqual(expect.arrayContaining(accepted));

  const seen: string[] = [];
  let text = "";
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString("utf8");
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const lines = frame.split("\n");
      for (const line of lines) expect(line).toMatch(/^(id|event|data|retry|): ?/);
      const data = lines.find((line) => line.startsWith("data: "));
      const event = data && (JSON.parse(data.slice(6)) as { type: string; data: { name: string } });
      if (event && event.type === "key.created" && accepted.includes(event.data.name))
        seen.push(event.data.name);
    }
    if (seen.length === accepted.length) break;
  }
  abort.abort();
  expect(seen.toSorted()).toEqual(accepted.toSorted());

  for (const line of server.stdout().split("\n")) if (line !== "") JSON.parse(line);
});

it.each([
  ["has a length of 10 kB", `x-request-id: ${"a".repeat(10_000)}`],
  ["has a quote", 'x-request-id: a"b'],
  ["has a space", "x-request-id: a b"],
  ["has a byte of Latin-1", "x-request-id: caf\u00e9"],
  ["is empty", "x-request-id: "],
])(
  "a request id that %s is replaced, in the answer, the error and the log",
  async (_how, header) => {
    const bytes = rawRequest("POST /api/compute/pools/list", [header]);
    const { statuses, text } = await sendRaw(server.url, bytes);
    expect(statuses).toEqual([401]);
    const id = /^x-request-id: (.*)\r$/m.exec(text)?.[1] ?? "";
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(text).toContain(`"requestId":"${id}"`);
    await expect.poll(() => server.stdout()).toContain(id);
  },
);

it("a request id that is two headers in one is two headers: the line ends where HTTP says", async () => {
  const bytes = rawRequest("POST /api/compute/pools/list", ["x-request-id: a\r\nx-evil: 1"]);
  const { text } = await sendRaw(server.url, bytes);
  expect(text).toMatch(/^x-request-id: a\r$/m);
  expect(text).not.toMatch(/^x-evil/m);
});
