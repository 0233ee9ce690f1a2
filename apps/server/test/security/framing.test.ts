/** One answer to one request, however it is framed; and whatever bytes come, the server goes on. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "../harness.ts";
import { rawRequest, sendRaw } from "./raw-socket.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const POST = "POST /api/compute/access/whoami";
const ours = ["content-type: application/json", `authorization: Bearer ${ADMIN_KEY}`];
/** What a second server might take for a request of its own. */
const SMUGGLED = rawRequest("GET /healthz");

describe("a request that two servers could read as two", () => {
  const chunked = `2\r\n{}\r\n0\r\n\r\n`;
  it.each([
    ["has a length and chunks", ["content-length: 2", "transfer-encoding: chunked"], chunked],
    ["has two lengths", ["content-length: 2", "content-length: 44"], "{}"],
    ["has a list of lengths", ["content-length: 2, 44"], "{}"],
    ["has a length with a sign", ["content-length: +2"], "{}"],
    ["has a negative length", ["content-length: -2"], "{}"],
    ["has a length in hexadecimal", ["content-length: 0x2"], "{}"],
    ["has another transfer coding", ["transfer-encoding: xchunked"], chunked],
    ["has chunks that are not the last coding", ["transfer-encoding: chunked, gzip"], chunked],
    ["has two transfer codings", ["transfer-encoding: chunked", "transfer-encoding: x"], chunked],
    ["has a space before the colon", ["transfer-encoding : chunked"], chunked],
    ["has a folded header", ["x-a: b", " transfer-encoding: chunked", "content-length: 2"], "{}"],
    ["has a NUL in a header", ["x-a: b\u0000c", "content-length: 2"], "{}"],
    [
      "has a bare CR in a header",
      ["x-a: b\rtransfer-encoding: chunked", "content-length: 2"],
      "{}",
    ],
    ["has two hosts", ["host: a.test", "host: b.test", "content-length: 2"], "{}"],
    ["has a chunk of a negative size", ["transfer-encoding: chunked"], "-2\r\n{}\r\n0\r\n\r\n"],
    ["has a chunk of a huge size", ["transfer-encoding: chunked"], `${"f".repeat(17)}\r\n{}`],
  ])("is refused when it %s", async (_how, headers, body) => {
    const bytes =
      rawRequest(POST, [...ours, "connection: keep-alive", ...headers], body) + SMUGGLED;
    const { statuses, closed, text } = await sendRaw(server.url, bytes);
    expect(statuses).toEqual([400]);
    expect(closed).toBe(true);
    expect(text).toContain("application/problem+json");
  });

  it("has a bare LF between its lines: it is not read as a request", async () => {
    const bytes = rawRequest(POST, ours, "{}").replaceAll("\r\n", "\n") + SMUGGLED;
    const { statuses } = await sendRaw(server.url, bytes);
    expect(statuses.filter((status) => status < 400)).toEqual([]);
  });
});

describe("a request that is unusual and has one reading", () => {
  it("in absolute form is answered by its path: the host decides nothing here", async () => {
    const bytes = rawRequest("POST http://elsewhere.test/api/compute/access/whoami", ours, "{}");
    const { statuses } = await sendRaw(server.url, bytes);
    expect(statuses).toHaveLength(1);
    expect([200, 404]).toContain(statuses[0]);
  });

  it("with chunk extensions is read without them", async () => {
    const body = "2;name=value\r\n{}\r\n0\r\n\r\n";
    const bytes = rawRequest(POST, [...ours, "transfer-encoding: chunked"], body);
    expect((await sendRaw(server.url, bytes)).statuses).toEqual([200]);
  });

  it("with a body on a GET has that body read, and not as the next request", async () => {
    const smuggled = SMUGGLED;
    const headers = ["connection: keep-alive", `content-length: ${smuggled.length}`];
    const { statuses } = await sendRaw(server.url, rawRequest("GET /healthz", headers, smuggled));
    expect(statuses).toHaveLength(1);
  });

  it("two in one go have two answers, in their order", async () => {
    const first = rawRequest(POST, [...ours, "connection: keep-alive"], "{}");
    const { statuses } = await sendRaw(server.url, first + rawRequest("GET /nowhere"));
    expect(statuses).toEqual([200, 404]);
  });

  it("for a tunnel, or for the server as a whole, has no route", async () => {
    const connects = await sendRaw(server.url, rawRequest("CONNECT elsewhere.test:443"));
    expect(connects.statuses.filter((status) => status < 400)).toEqual([]);
    expect((await sendRaw(server.url, rawRequest("OPTIONS *"))).statuses).toEqual([404]);
    const upgrade = rawRequest("GET /healthz", ["connection: upgrade", "upgrade: websocket"]);
    expect((await sendRaw(server.url, upgrade)).statuses).not.toContain(101);
  });
});

/** mulberry32, so that a seed gives the same bytes again. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const RUNS = Number(process.env["RAW_REQUESTS"] ?? 5_000);
const SEED = Number(process.env["BERTH_SEED"] ?? Date.now() % 1_000_000);
const LANES = 16;
const REQUESTS = [
  rawRequest(POST, ours, "{}"),
  rawRequest("POST /trpc/access.whoami", ours, '{"json":{}}'),
  rawRequest("POST /trpc/pools.list,pools.list?batch=1", ours, '{"0":{"json":{"tenantId":"t-a"}}}'),
  rawRequest("GET /api/compute/events/stream?tenantId=t-a", ours),
  rawRequest("GET /healthz", ["connection: keep-alive"]),
  rawRequest(POST, [...ours, "transfer-encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"),
] as const;
const POISON = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  ":",
  " ",
  "\t",
  "chunked",
  "content-length: 7\r\n",
  "%00",
  "é",
];

/** One to four changes of a request: a bit, a piece cut out, doubled or poisoned, the end cut off. */
function mutated(random: () => number): Buffer {
  const below = (n: number) => Math.floor(random() * n);
  let bytes = Buffer.from(REQUESTS[below(REQUESTS.length)] ?? "", "latin1");
  for (let changes = 1 + below(4); changes > 0 && bytes.length > 0; changes -= 1) {
    const at = below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + below(20));
    const [head, piece, tail] = [
      bytes.subarray(0, at),
      bytes.subarray(at, end),
      bytes.subarray(end),
    ];
    switch (below(5)) {
      case 0:
        bytes = Buffer.from(bytes);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
        break;
      case 1:
        bytes = Buffer.concat([head, tail]);
        break;
      case 2:
        bytes = Buffer.concat([head, piece, piece, tail]);
        break;
      case 3:
        bytes = Buffer.concat([
          head,
          Buffer.from(POISON[below(POISON.length)] ?? "", "latin1"),
          tail,
        ]);
        break;
      default:
        bytes = Buffer.from(head);
    }
  }
  return bytes;
}

it(`${RUNS} requests of mutated bytes: every socket is answered or closed in 15 s, none with 5xx`, async () => {
  const random = seeded(SEED);
  const wrong: string[] = [];
  let next = 0;
  let slowest = 0;
  let answered = 0;
  const lane = async () => {
    while ((next += 1) <= RUNS) {
      const number = next;
      const bytes = mutated(random);
      // Most callers say that they are done: a request that lacks its end then has none.
      const { statuses, ms } = await sendRaw(server.url, bytes, {
        halfClose: number % 100 !== 0,
        quietMs: 500,
        patienceMs: 20_000,
      });
      slowest = Math.max(slowest, ms);
      answered += statuses.length > 0 ? 1 : 0;
      if (statuses.some((status) => status >= 500) || ms > 16_000)
        wrong.push(
          `${number} (${statuses.join(" ")}, ${Math.round(ms)} ms): ${bytes.toString("latin1")}`,
        );
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  process.stdout.write(
    `raw bytes: ${RUNS} requests, ${answered} answered, the others closed, slowest ${Math.round(slowest)} ms, BERTH_SEED=${SEED}\n`,
  );
  expect(wrong).toEqual([]);
  expect((await server.http("access.whoami", {})).status).toBe(200);
  await server.expectHealthy();
}, 300_000);
