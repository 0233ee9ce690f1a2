import { describe, expect, it } from "vitest";
import {
  ask,
  inTurn,
  poolId,
  rejection,
  reservationId,
  tenantId,
  told,
  unavailable,
  withServer,
} from "../test/berth-on-wire.ts";
import type { Reply } from "../test/wire-server.ts";
import { waitBefore } from "./backoff.ts";
import { isBerthError } from "./index.ts";

describe("a call", () => {
  it("posts plain JSON with the token and answers the data", async () => {
    await withServer(
      () => ({ data: { id: reservationId } }),
      async (berth, server) => {
        const reservation = await berth.reservations.get({ tenantId, reservationId });
        expect(reservation).toEqual({ id: reservationId });
        expect(server.arrived[0]).toMatchObject({
          method: "reservations.get",
          input: { tenantId, reservationId },
          headers: { authorization: "Bearer t", traceparent: "00-1" },
        });
      },
      { headers: { traceparent: "00-1" } },
    );
  });

  it("asks a token function before every request and reports its own failure as it is", async () => {
    const tokens = ["one", "two"];
    const none = new Error("no token today");
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        await berth.access.whoami();
        await berth.access.whoami();
        expect(server.arrived.map((call) => call.headers.authorization)).toEqual([
          "Bearer one",
          "Bearer two",
        ]);
        expect(await rejection(berth.access.whoami())).toBe(none);
        expect(server.requests()).toBe(2);
      },
      {
        token: () => {
          const token = tokens.shift();
          if (!token) throw none;
          return token;
        },
      },
    );
  });

  it("travels with other reads of the same moment, at most 50 to a request, and a booking travels alone", async () => {
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        const reads = Array.from({ length: 60 }, () => berth.pools.get({ tenantId, poolId }));
        await Promise.all([...reads, berth.reservations.create(ask)]);
        const sizes = new Map<string, number>();
        for (const call of server.arrived) {
          const key = `${call.method} ${call.request}`;
          sizes.set(key, (sizes.get(key) ?? 0) + 1);
        }
        expect([...sizes.values()].toSorted((a, b) => a - b)).toEqual([1, 10, 50]);
        expect(server.requests()).toBe(3);
      },
    );
  });

  it("sends an empty object where there is nothing to say", async () => {
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        await berth.access.whoami();
        expect(server.arrived[0]?.input).toEqual({});
      },
    );
  });
});

describe("an idempotency key", () => {
  it("is made once for a call and kept over its retries", async () => {
    await withServer(
      inTurn(unavailable, "cut", "half", { data: { id: reservationId } }),
      async (berth, server) => {
        await expect(berth.reservations.create(ask)).resolves.toEqual({ id: reservationId });
        const keys = server.arrived.map(
          (call) => (call.input as { idempotencyKey: string }).idempotencyKey,
        );
        expect(keys).toHaveLength(4);
        expect(new Set(keys).size).toBe(1);
        expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
      },
    );
  });

  it("differs between calls, and is the caller's where given", async () => {
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        await berth.reservations.create(ask);
        await berth.reservations.create(ask);
        await berth.reservations.create(ask, { idempotencyKey: "from-options" });
        await berth.reservations.create(
          { ...ask, idempotencyKey: "from-input" },
          { idempotencyKey: "other" },
        );
        await berth.capacity.preview(ask);
        await berth.reservations.get({ tenantId, reservationId });
        const keys = server.arrived.map(
          (call) => (call.input as { idempotencyKey?: string }).idempotencyKey,
        );
        expect(new Set(keys.slice(0, 2)).size).toBe(2);
        expect(keys.slice(2, 4)).toEqual(["from-options", "from-input"]);
        expect(keys[4]).toMatch(/^[0-9a-f]{32}$/);
        expect(keys[5]).toBeUndefined();
      },
    );
  });
});

describe("a retry", () => {
  it("waits as long as Retry-After says", async () => {
    const limited: Reply = {
      status: 429,
      berth: told("RATE_LIMITED", { retryable: true }),
      headers: { "retry-after": "1" },
    };
    await withServer(inTurn(limited, { data: {} }), async (berth, server) => {
      const since = performance.now();
      await berth.pools.get({ tenantId, poolId });
      expect(performance.now() - since).toBeGreaterThan(990);
      expect(server.requests()).toBe(2);
    });
  });

  it("comes by chance up to a quarter later than it was told, and never earlier", () => {
    const waits = Array.from({ length: 400 }, () => waitBefore(0, 40_000));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(40_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(50_000);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5_000);
    expect(waitBefore(0)).toBeLessThanOrEqual(200);
  });

  it("does not begin when the time limit would pass while it waits", async () => {
    const limited: Reply = {
      status: 429,
      berth: told("RATE_LIMITED", { retryable: true }),
      headers: { "retry-after": "60" },
    };
    await withServer(inTurn(limited), async (berth, server) => {
      const error = await rejection(berth.pools.get({ tenantId, poolId }, { timeoutMs: 5_000 }));
      expect(isBerthError(error, "RATE_LIMITED")).toBe(true);
      expect(server.requests()).toBe(1);
    });
  });

  it("follows a gateway's 502, 503 and 504 as it does the server's", async () => {
    const gateway = (status: number): Reply => ({ status, body: "<html>no server</html>" });
    await withServer(
      inTurn(gateway(502), gateway(503), gateway(504), { data: {} }),
      async (berth, server) => {
        await berth.pools.get({ tenantId, poolId });
        expect(server.requests()).toBe(4);
      },
    );
  });

  it("ends after the number of retries, with the last failure", async () => {
    await withServer(
      inTurn(unavailable),
      async (berth, server) => {
        const error = await rejection(berth.pools.get({ tenantId, poolId }));
        expect(isBerthError(error, "UNAVAILABLE")).toBe(true);
        expect(server.requests()).toBe(3);
      },
      { maxRetries: 2 },
    );
  });

  it("is made of renew and release without a version, and of no other mutation without a key", async () => {
    await withServer(
      inTurn(unavailable),
      async (berth, server) => {
        const ref = { tenantId, reservationId };
        const calls: [string, () => Promise<unknown>, number][] = [
          ["renew", () => berth.reservations.renew(ref), 2],
          ["release", () => berth.reservations.release(ref), 2],
          ["renew at a version", () => berth.reservations.renew({ ...ref, version: 3 }), 1],
          ["extend", () => berth.reservations.extend({ ...ref, end: 1 }), 1],
          ["terminate", () => berth.reservations.terminate({ ...ref, reason: "r" }), 1],
          ["update", () => berth.pools.update({ tenantId, poolId, policy: {} }), 1],
          [
            "pools.create",
            () => berth.pools.create({ tenantId, siteId: "s", class: "metal-host" }),
            2,
          ],
        ];
        for (const [name, call, expected] of calls) {
          const before = server.requests();
          const error = await rejection(call());
          expect(isBerthError(error, "UNAVAILABLE"), name).toBe(true);
          expect(server.requests() - before, name).toBe(expected);
        }
      },
      { maxRetries: 1 },
    );
  });

  it("is not made of an answer that would be the same", async () => {
    for (const code of ["CONFLICT", "NO_CAPACITY", "INVALID_STATE", "INTERNAL", "NOT_FOUND"]) {
      await withServer(inTurn({ status: 409, berth: told(code) }), async (berth, server) => {
        await rejection(berth.reservations.create(ask));
        expect(server.requests(), code).toBe(1);
      });
    }
  });
});

describe("the end of patience", () => {
  it("is TIMEOUT when the server does not answer in time, retries included", async () => {
    await withServer(inTurn("never"), async (berth, server) => {
      const error = await rejection(berth.pools.get({ tenantId, poolId }, { timeoutMs: 100 }));
      expect(isBerthError(error, "TIMEOUT")).toBe(true);
      expect(String(error)).toContain("pools.get took longer than 100 ms");
      expect(server.requests()).toBe(1);
    });
  });

  it("may be endless, or longer than any timer counts, and must be more than nothing", async () => {
    await withServer(inTurn({ data: { id: poolId } }), async (berth) => {
      for (const timeoutMs of [Infinity, 30 * 86_400_000])
        await expect(berth.pools.get({ tenantId, poolId }, { timeoutMs })).resolves.toBeDefined();
      for (const timeoutMs of [0, -1, NaN])
        await expect(berth.pools.get({ tenantId, poolId }, { timeoutMs })).rejects.toThrow(
          "timeoutMs must be more than 0",
        );
    });
  });

  it("is the reason of the caller's signal, and other calls of the same batch are not touched by it", async () => {
    const gone = new Error("the page was left");
    const controller = new AbortController();
    await withServer(
      (call) => {
        controller.abort(gone);
        return { data: { method: call.method } };
      },
      async (berth, server) => {
        const left = rejection(
          berth.pools.get({ tenantId, poolId }, { signal: controller.signal }),
        );
        const stayed = berth.pools.list({ tenantId });
        expect(await left).toBe(gone);
        expect(await stayed).toEqual({ method: "pools.list" });
        expect(server.requests()).toBe(1);
      },
    );
  });

  it("comes at once for a signal that was aborted before, and between retries", async () => {
    await withServer(inTurn(unavailable), async (berth, server) => {
      const before = AbortSignal.abort(new Error("before"));
      expect(
        String(await rejection(berth.pools.get({ tenantId, poolId }, { signal: before }))),
      ).toBe("Error: before");
      const controller = new AbortController();
      const between = rejection(
        berth.pools.get({ tenantId, poolId }, { signal: controller.signal }),
      );
      await expect.poll(() => server.requests()).toBe(1);
      controller.abort(new Error("between"));
      expect(String(await between)).toBe("Error: between");
    });
  });
});
