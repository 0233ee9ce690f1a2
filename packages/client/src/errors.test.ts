import { describe, expect, it } from "vitest";
import { ask, inTurn, rejection, tenantId, told, withServer } from "../test/berth-on-wire.ts";
import { startWireServer } from "../test/wire-server.ts";
import { BerthError, createBerth, isBerthError } from "./index.ts";

const MADE = {
  code: "TIMEOUT",
  message: "m",
  retryable: true,
  requestId: null,
  issues: null,
  details: null,
} as const;

describe("an error", () => {
  it("carries the server's code, message, request and details", async () => {
    const reason = {
      code: "BUSY",
      message: "3 of 3 nodes are booked",
      blocked: [{ cause: "BUSY", nodes: 3 }],
    };
    const details = { reason, earliestStart: 5, searchedTo: 9, latestEnd: null };
    await withServer(
      inTurn({ status: 409, berth: told("NO_CAPACITY", { details }) }),
      async (berth) => {
        const error = await rejection(berth.reservations.create(ask));
        if (!isBerthError(error, "NO_CAPACITY")) throw error;
        expect(error).toBeInstanceOf(Error);
        expect(error.details.earliestStart).toBe(5);
        expect(error.reason).toEqual(reason);
        expect(error).toMatchObject({
          name: "BerthError",
          code: "NO_CAPACITY",
          message: "told NO_CAPACITY",
          requestId: "req-1",
          retryable: false,
          issues: null,
          field: null,
        });
        expect(isBerthError(error)).toBe(true);
        expect(isBerthError(error, "CONFLICT")).toBe(false);
      },
    );
  });

  it("names the field of a bad input", async () => {
    const issues = [{ path: ["devices", 0, "count"], message: "must be at least 1" }];
    await withServer(
      inTurn({ status: 400, berth: told("INVALID_INPUT", { issues }) }),
      async (berth) => {
        const error = await rejection(berth.reservations.create(ask));
        expect(error).toMatchObject({
          code: "INVALID_INPUT",
          field: "devices[0].count",
          issues,
          reason: null,
        });
      },
    );
  });

  it("reads an error that the server told before tRPC saw the call", async () => {
    const problem = JSON.stringify({ ...told("TOO_LARGE"), status: 413 });
    await withServer(
      inTurn({
        status: 413,
        body: problem,
        headers: { "content-type": "application/problem+json" },
      }),
      async (berth) => {
        expect(await rejection(berth.reservations.create(ask))).toMatchObject({
          code: "TOO_LARGE",
          requestId: "req-1",
        });
        expect(await rejection(berth.pools.list({ tenantId }))).toMatchObject({
          code: "TOO_LARGE",
        });
      },
    );
  });

  it("is NETWORK with its cause when nobody answers", async () => {
    const berth = createBerth({ url: "http://127.0.0.1:1", maxRetries: 0 });
    const error = await rejection(berth.access.whoami());
    expect(error).toMatchObject({ code: "NETWORK", retryable: true, requestId: null });
    expect((error as Error).cause).toBeInstanceOf(Error);
  });

  it("of a server that nobody reached names its origin and the system's code", async () => {
    await using server = await startWireServer(() => "cut");
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const berth = createBerth({ url: `${url}/behind/a/path`, maxRetries: 0 });
    expect(await rejection(berth.access.whoami())).toMatchObject({
      code: "NETWORK",
      message: `${url} was not reached (ECONNREFUSED)`,
    });
  });

  it("comes at once for a url that is no address, and never shows what may be a password", () => {
    for (const url of ["localhost:8787", "127.0.0.1:8787", "/api", "", "ftp://berth", "http://"]) {
      const message = `needs url to be an http:// or https:// address such as "https://berth.internal", not "${url}"`;
      expect(() => createBerth({ url }), url).toThrow(message);
    }
    expect(() => createBerth({ url: 5 as unknown as string })).toThrow("not 5");
    expect(() => createBerth({ url: "me:secret@berth:1" })).toThrow(/not "…@berth:1"$/);
    for (const url of ["http://x", "HTTPS://berth.internal/", "http://[::1]:8787/below"])
      expect(() => createBerth({ url }), url).not.toThrow();
  });

  it("comes at once for the address of a surface, and says the server's", () => {
    for (const url of [
      "http://x/below/trpc",
      "http://x/below/trpc//",
      "http://x/below/api/compute",
    ])
      expect(() => createBerth({ url }), url).toThrow(
        /createBerth needs url to be where the server is, "http:\/\/x\/below", without \/(?:trpc|api\/compute) at its end/,
      );
    for (const url of ["http://x/trpcs", "http://trpc", "http://x/api"])
      expect(() => createBerth({ url }), url).not.toThrow();
  });

  it("says when to come back: RATE_LIMITED, from the server or from a gateway", async () => {
    const berth = told("RATE_LIMITED", { retryable: true });
    const headers = { "retry-after": "7" };
    for (const [reply, retryAfterMs] of [
      [{ status: 429, berth, headers }, 7_000],
      [{ status: 429, body: "<html>slow down</html>", headers }, 7_000],
      [{ status: 429, berth }, null],
    ] as const)
      await withServer(
        inTurn(reply),
        async (client) => {
          const error = await rejection(client.access.whoami());
          if (!isBerthError(error, "RATE_LIMITED")) throw error;
          expect(error.details.retryAfterMs).toBe(retryAfterMs);
        },
        { maxRetries: 0 },
      );
  });

  it("is BAD_ANSWER when something else answers", async () => {
    for (const body of ["<html>Not here</html>", '{"hello":1}', "[]"]) {
      await withServer(inTurn({ status: 404, body }), async (berth, server) => {
        expect(await rejection(berth.access.whoami()), body).toMatchObject({
          code: "BAD_ANSWER",
          retryable: false,
        });
        expect(server.requests()).toBe(1);
      });
    }
  });

  it("is recognised across copies of the package, and nothing else is", () => {
    const foreign = Object.assign(new Error("x"), { code: "CONFLICT" });
    expect(isBerthError(foreign)).toBe(false);
    Object.defineProperty(foreign, Symbol.for("@berth/client.BerthError"), { value: true });
    expect(isBerthError(foreign)).toBe(true);
    expect(isBerthError(foreign, "CONFLICT")).toBe(true);
    for (const other of [null, undefined, "CONFLICT", 1, {}, new Error("x")])
      expect(isBerthError(other)).toBe(false);
    expect(isBerthError(new BerthError(MADE), "TIMEOUT")).toBe(true);
  });

  it("is told by instanceof across copies of the package, and a class made of it is its own", () => {
    const foreign = Object.defineProperty(new Error("x"), Symbol.for("@berth/client.BerthError"), {
      value: true,
    });
    expect(foreign instanceof BerthError).toBe(true);
    expect(new Error("x") instanceof BerthError).toBe(false);
    expect((null as unknown as object) instanceof BerthError).toBe(false);
    class Mine extends BerthError {}
    expect(foreign instanceof Mine).toBe(false);
    expect(new Mine(MADE) instanceof Mine).toBe(true);
    expect(new Mine(MADE) instanceof BerthError).toBe(true);
  });

  it("is written as JSON without its cause, its stack and what only the client knows", () => {
    const secret = new Error("token abc");
    const error = new BerthError({ ...MADE, cause: secret, idempotencyKey: "k", status: 503 });
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        ...{ name: "BerthError", code: "TIMEOUT", message: "m", retryable: true, status: 503 },
        ...{ requestId: null, idempotencyKey: "k", issues: null, details: null },
      },
    });
  });

  it("says when it would fit where the code says so, and null elsewhere", async () => {
    const reason = { code: "BUSY", message: "all are booked", blocked: [] };
    const details = { reason, earliestStart: 7, searchedTo: 9, latestEnd: null };
    await withServer(
      inTurn(
        { status: 409, berth: told("NO_CAPACITY", { details }) },
        { status: 409, berth: told("CONFLICT") },
      ),
      async (berth) => {
        const full = await rejection(berth.reservations.create(ask));
        if (!isBerthError(full, "NO_CAPACITY")) throw full;
        expect([full.earliestStart, full.reason.message, full.status]).toEqual([
          7,
          "all are booked",
          409,
        ]);
        const other = await rejection(berth.reservations.create(ask));
        expect(other).toMatchObject({ earliestStart: null, reason: null, status: 409 });
      },
    );
  });
});
