/** Who sends slowly, or not at all, is let go; nobody else notices. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "../harness.ts";
import { rawRequest } from "./raw-socket.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const IDLE = 1_000;
const HALF = 500;
/** Ten seconds for a head, twelve for a request; late ones are looked for each second. */
const MOST_MS = 15_000;

interface Lasting {
  readonly how: string;
  readonly ms: number;
}

interface Slow {
  readonly socket: Socket;
  readonly over: Promise<Lasting>;
}

/** A connection that sends a byte of the text each `everyMs`, or all of it at once, and then nothing. */
function slowly(how: string, text: string, everyMs = 0): Slow {
  const { hostname, port } = new URL(server.url);
  const { promise, resolve } = Promise.withResolvers<Lasting>();
  const socket: Socket = connect(Number(port), hostname);
  let started = performance.now();
  socket.once("connect", () => (started = performance.now()));
  let sent = 0;
  const more = () => {
    if (sent < text.length && socket.writable) socket.write(text.charAt((sent += 1) - 1), "latin1");
  };
  const timer = everyMs > 0 ? setInterval(more, everyMs) : undefined;
  if (everyMs === 0 && text !== "") socket.write(text, "latin1");
  socket.resume().on("error", () => undefined);
  socket.once("close", () => {
    clearInterval(timer);
    resolve({ how, ms: performance.now() - started });
  });
  return { socket, over: promise };
}

/** So many at a time that the system's queue of new connections holds them. */
const AT_ONCE = 100;

async function many(count: number, open: () => Slow): Promise<Slow[]> {
  const all: Slow[] = [];
  while (all.length < count) {
    const wave = Array.from({ length: Math.min(AT_ONCE, count - all.length) }, open);
    await Promise.all(wave.map(({ socket }) => once(socket, "connect")));
    // Its answer is behind them in the same queue: they have been taken.
    await server.http("access.whoami", {});
    all.push(...wave);
  }
  return all;
}

const headers = ["content-type: application/json", `authorization: Bearer ${ADMIN_KEY}`];
const POST = "POST /api/compute/access/whoami";

it("a head or a body a byte a second, silence, and half requests are over in 15 s, and good calls go on", async () => {
  const gone = [
    slowly("head by the byte", rawRequest(POST, headers, "{}"), 1_000),
    slowly("body that does not come", rawRequest(POST, [...headers, "content-length: 900"], "")),
    slowly("half a chunk", rawRequest(POST, [...headers, "transfer-encoding: chunked"], "2\r\n")),
    ...(await many(IDLE, () => slowly("silence", ""))),
    ...(await many(HALF, () => slowly("half a head", `${POST} HTTP/1.1\r\nhost: a`))),
  ];
  let over = false;
  const good: number[] = [];
  const others = (async () => {
    while (!over) good.push((await server.http("access.whoami", {})).status);
  })();
  const lasted = await Promise.all(gone.map((each) => each.over));
  over = true;
  await others;

  expect(lasted.filter(({ ms }) => ms > MOST_MS)).toEqual([]);
  expect(new Set(good)).toEqual(new Set([200]));
  expect(good.length).toBeGreaterThan(50);
  const slowest = Math.max(...lasted.map(({ ms }) => ms));
  process.stdout.write(
    `S31: ${lasted.length} slow connections, the last closed after ${Math.round(slowest)} ms, ${good.length} good calls meanwhile\n`,
  );
}, 90_000);
