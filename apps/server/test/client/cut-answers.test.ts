/** The connection is cut after the server has decided and before its answer arrives: nothing is done twice. */
import { createServer, request as ask } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createBerth, isBerthError } from "@berth/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";

const TIMES = 200;
/** Bookings at once. */
const ABREAST = 8;

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer({ config: { rateLimit: 1e9, addressRateLimit: 1e9 } });
  fleet = await server.fleet(pool(32, 8));
});
afterAll(() => server.stop());

/** Takes requests through to the server, waits for its whole answer, and hangs up on the first of each key. */
async function cuttingFirst(
  to: string,
): Promise<AsyncDisposable & { url: string; cuts(): number }> {
  const cut = new Set<string>();
  const front = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const onward = ask(new URL(incoming.url ?? "/", to), {
      method: incoming.method,
      headers: incoming.headers,
    });
    let body = "";
    incoming.setEncoding("utf8").on("data", (text: string) => {
      body += text;
      onward.write(text);
    });
    incoming.on("end", () => onward.end());
    onward.on("response", (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const key = /"idempotencyKey":"([^"]+)"/.exec(body)?.[1];
        if (key === undefined || cut.has(key)) {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          outgoing.end(Buffer.concat(chunks));
          return;
        }
        cut.add(key);
        outgoing.socket?.destroy();
      });
    });
    onward.on("error", () => outgoing.socket?.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    cuts: () => cut.size,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

it("200 answers that were cut off after the commit: each booking is there once, with its key", async () => {
  await using proxy = await cuttingFirst(server.url);
  const token = await server.token("t-a");
  const berth = createBerth({ url: proxy.url, token });
  const { poolId } = fleet;
  const request = {
    tenantId: "t-a",
    poolId,
    devices: [{ class: "gpu" as const, count: 1 }],
    duration: "1h",
  };
  const booked: string[] = [];
  let replayed = 0;
  const book = async (): Promise<void> => {
    for (let n = 0; n < TIMES / ABREAST; n += 1) {
      const { data, headers } = await berth.reservations.create(request).withResponse();
      booked.push(data.id);
      if (headers.get("idempotent-replayed") === "true") replayed += 1;
    }
  };
  await Promise.all(Array.from({ length: ABREAST }, book));
  expect(proxy.cuts()).toBe(TIMES);
  expect(replayed).toBe(TIMES);
  expect(new Set(booked).size).toBe(TIMES);
  const there = server.admin.reservations.list({
    tenantId: "t-a",
    poolId,
    state: ["active"],
    limit: 200,
  });
  const ids = (await there.toArray({ limit: 1_000 })).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(booked.toSorted());

  // Who does not try again has the key on the error, and is answered by it.
  const once = createBerth({ url: proxy.url, token, maxRetries: 0 });
  const lost = await once.reservations.create(request).safe();
  if (!isBerthError(lost.error, "NETWORK")) throw new Error("it was to be cut");
  const { idempotencyKey } = lost.error;
  const found = await once.reservations
    .create(request, { idempotencyKey: idempotencyKey ?? "" })
    .withResponse();
  expect(found.headers.get("idempotent-replayed")).toBe("true");
  expect(ids).not.toContain(found.data.id);
  await server.expectHealthy();
}, 120_000);
