/** Whoever answers in the server's place gets no token, and can break nothing of the caller's. */
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  ask,
  inTurn,
  poolId,
  rejection,
  tenantId,
  told,
  withServer,
} from "../test/berth-on-wire.ts";
import { startStreamServer } from "../test/stream-server.ts";
import { type Berth, type Event, createBerth, isBerthError } from "./index.ts";

const TOKEN = "berth_live_0123456789_SECRET_OF_THE_CALLER_abc";

/** The first event of a stream, or what it ends with. */
async function first(berth: Berth): Promise<IteratorResult<Event, unknown>> {
  return berth.reservations.watch({ tenantId })[Symbol.asyncIterator]().next();
}

/** Another origin, and what reached it. */
async function stranger(): Promise<
  AsyncDisposable & { url: string; reached: IncomingHttpHeaders[] }
> {
  const reached: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    reached.push(request.headers);
    response
      .writeHead(200, { "content-type": "application/json" })
      .end('{"result":{"data":{"json":{}}}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a token", () => {
  it.each([301, 302, 303, 307, 308])(
    "is not sent to where the server sends callers on: %i",
    async (status) => {
      await using other = await stranger();
      const headers = { location: `${other.url}/trpc/access.whoami` };
      await withServer(
        inTurn({ status, body: "", headers }),
        async (berth) => {
          for (const call of [() => berth.access.whoami(), () => berth.reservations.create(ask)]) {
            const error = await rejection(call());
            expect(error).toMatchObject({ code: "BAD_ANSWER", retryable: false });
            expect((error as Error).message).toContain(`sends callers on to ${other.url}`);
          }
          expect(other.reached).toEqual([]);
        },
        { token: TOKEN },
      );
    },
  );

  it("is not sent on by a stream either", async () => {
    await using other = await stranger();
    await using server = await startStreamServer((_write, response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    const berth = createBerth({ url: server.url, token: TOKEN });
    const error = await rejection(first(berth));
    expect(error).toMatchObject({ code: "BAD_ANSWER" });
    expect(other.reached).toEqual([]);
  });

  it("stands in no error, however the call fails", async () => {
    const secret = "X-Api-Key-SECRET-TOO";
    const options = { token: TOKEN, maxRetries: 0, headers: { "x-api-key": secret } };
    const errors: unknown[] = [];
    for (const reply of [
      "cut" as const,
      "half" as const,
      { status: 500, body: "<html>" },
      { status: 307, body: "", headers: { location: "http://127.0.0.1:1/" } },
      { status: 401, berth: told("UNAUTHENTICATED") },
      { status: 503, berth: told("UNAVAILABLE") },
      { status: 200, body: '{"result":{}}' },
    ])
      await withServer(
        inTurn(reply),
        async (berth) => void errors.push(await rejection(berth.access.whoami())),
        options,
      );
    await withServer(
      () => "never",
      async (berth) =>
        void errors.push(await rejection(berth.access.whoami({}, { timeoutMs: 50 }))),
      options,
    );
    const nowhere = createBerth({ url: "http://127.0.0.1:1", ...options });
    errors.push(await rejection(nowhere.access.whoami()));
    for (const bad of [`${TOKEN}\n`, `${TOKEN}é`, `${TOKEN}\u0000`]) {
      const berth = createBerth({ url: "http://127.0.0.1:1", ...options, token: bad });
      const error = await rejection(berth.access.whoami());
      expect((error as Error).message).toBe("the token holds what no header can carry");
      errors.push(error, await rejection(first(berth)));
    }
    const headers = { "x-api-key": `${secret}\n` };
    errors.push(
      await rejection(createBerth({ url: "http://127.0.0.1:1", headers }).access.whoami()),
    );
    try {
      createBerth({ url: `http://user:${secret}@127.0.0.1:1` });
    } catch (error) {
      errors.push(error);
    }
    expect(errors).toHaveLength(17);
    for (const error of errors) {
      expect(error).toBeInstanceOf(Error);
      const everything = `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error)}`;
      expect(everything).not.toContain("SECRET");
    }
  });
});

describe("an answer of whoever stands in the server's place", () => {
  const envelope = (json: unknown, meta: unknown) =>
    JSON.stringify({ result: { data: { json, meta } } });

  it("pollutes no prototype", async () => {
    const bodies = [
      envelope({}, { values: { "__proto__.polluted": ["undefined"] } }),
      envelope({ a: {} }, { values: { "a.__proto__.polluted": [["class", "x"]] } }),
      envelope({}, { referentialEqualities: { "__proto__.polluted": ["constructor.name"] } }),
      '{"result":{"data":{"json":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}}}',
    ];
    await withServer(inTurn(...bodies.map((body) => ({ status: 200, body }))), async (berth) => {
      for (const _body of bodies) await berth.reservations.create(ask);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });
  });

  it("costs no more than its length", async () => {
    const sparse = envelope({ a: [] }, { values: { "a.20000000": ["undefined"] } });
    const many = envelope(
      { a: [] },
      {
        values: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a.${i}`, [["map"]]])),
      },
    );
    const equal = envelope(
      { a: {} },
      { referentialEqualities: [Array.from({ length: 20_000 }, (_, i) => `a.b${i}`), {}] },
    );
    const nested = `{"result":{"data":{"json":${"[".repeat(50_000)}${"]".repeat(50_000)}}}}`;
    await withServer(
      inTurn(...[sparse, many, equal, nested].map((body) => ({ status: 200, body }))),
      async (berth) => {
        const started = process.cpuUsage().user;
        for (let n = 0; n < 4; n += 1) await berth.reservations.create(ask);
        expect((process.cpuUsage().user - started) / 1_000).toBeLessThan(5_000);
      },
    );
  });

  it.each([
    "null",
    "5",
    "[]",
    "{}",
    '{"result":null}',
    '{"result":{}}',
    '{"result":{"data":5}}',
    '{"error":null}',
    '{"error":{"json":null}}',
    '{"error":{"json":{"data":{"berth":{"code":5,"message":{},"retryable":"x"}}}}}',
    '{"code":"__proto__"}',
    "[[[]]]",
  ])("that is none rejects with BAD_ANSWER: %s", async (body) => {
    await withServer(inTurn({ status: 200, body }), async (berth) => {
      for (const call of [
        () => berth.reservations.create(ask),
        () => berth.pools.get({ tenantId, poolId }),
      ]) {
        const error = await rejection(call());
        expect(isBerthError(error, "BAD_ANSWER"), String(error)).toBe(true);
      }
    });
  });

  it("whose error is not of its code can be read all the same", async () => {
    const errors = [
      told("NO_CAPACITY", { details: null, issues: "x", requestId: {} }),
      told("NO_CAPACITY", { details: { reason: null }, issues: [null, 5, { path: "a" }] }),
      told("constructor", { details: 5, issues: [{ path: ["a", 0], message: "m" }] }),
    ];
    for (const berth of errors) {
      await withServer(inTurn({ status: 409, berth }), async (client) => {
        const error = await rejection(client.reservations.create(ask));
        if (!isBerthError(error)) throw error;
        const isFull = error.code === "NO_CAPACITY";
        expect(error.reason).toEqual(
          isFull ? { code: "UNKNOWN", message: "told NO_CAPACITY", blocked: [] } : null,
        );
        expect(error.earliestStart).toBeNull();
        expect(["a[0]", null]).toContain(error.field);
        expect(error.requestId === null || typeof error.requestId === "string").toBe(true);
      });
    }
  });

  it("cannot make a caller wait for ever", async () => {
    const reply = { status: 503, berth: told("UNAVAILABLE", { retryable: true }) };
    for (const value of ["1e308", "Infinity", "-5", "NaN", "Thu, 01 Jan 9999 00:00:00 GMT"])
      await withServer(inTurn({ ...reply, headers: { "retry-after": value } }), async (berth) =>
        expect(await rejection(berth.access.whoami({}, { timeoutMs: 2_000 }))).toMatchObject({
          code: expect.stringMatching(/UNAVAILABLE|TIMEOUT/) as string,
        }),
      );
  });
});

describe("a stream of whoever stands in the server's place", () => {
  it.each([
    ["no JSON", "data: {\nid: 1\n\n"],
    ["an error that is none", "event: serialized-error\ndata: [\n\n"],
    ["an event without an end", `data: ${"x".repeat(8_100_000)}`],
  ])("that holds %s ends with BAD_ANSWER", async (_what, text) => {
    await using server = await startStreamServer((write) => write.raw(text));
    const berth = createBerth({ url: server.url });
    const error = await rejection(first(berth));
    expect(isBerthError(error, "BAD_ANSWER"), String(error)).toBe(true);
    expect(server.opened).toHaveLength(1);
  });

  it("pollutes no prototype with an event", async () => {
    const event =
      '{"json":{"type":"x","__proto__":{"polluted":1}},"meta":{"values":{"__proto__.polluted":["undefined"]}}}';
    await using server = await startStreamServer((write) => write.raw(`data: ${event}\nid: 1\n\n`));
    const { value } = await first(createBerth({ url: server.url }));
    expect(value).toMatchObject({ type: "x" });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
