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
import type { Hooks, RequestInfo, ResponseInfo, RetryInfo } from "./index.ts";

/** Hooks that write down what they are told. */
function recorder(): {
  hooks: Hooks;
  lines: string[];
  told: (RequestInfo | ResponseInfo | RetryInfo)[];
} {
  const lines: string[] = [];
  const all: (RequestInfo | ResponseInfo | RetryInfo)[] = [];
  const keep = (line: string, info: RequestInfo | ResponseInfo | RetryInfo): void => {
    lines.push(line);
    all.push(info);
  };
  return {
    lines,
    told: all,
    hooks: {
      onRequest: (info) => keep(`request ${info.attempt}`, info),
      onResponse: (info) =>
        keep(`response ${info.attempt} ${info.status} ${info.requestId} ${info.error?.code}`, info),
      onRetry: (info) => keep(`retry ${info.attempt} ${info.status} ${info.error.code}`, info),
    },
  };
}

describe("hooks", () => {
  it("are told of every try, its end and every retry, in that order", async () => {
    const { hooks, lines, told: all } = recorder();
    const reply = inTurn(unavailable, "cut", { data: { id: reservationId } });
    await withServer(reply, async (berth) => void (await berth.reservations.create(ask)), {
      hooks,
    });
    expect(lines).toEqual([
      "request 0",
      "response 0 503 req-1 UNAVAILABLE",
      "retry 1 503 UNAVAILABLE",
      "request 1",
      "response 1 null null NETWORK",
      "retry 2 null NETWORK",
      "request 2",
      "response 2 200 req-3 undefined",
    ]);
    for (const info of all) expect(info.method).toBe("reservations.create");
    const [first, answered, retried] = all as [RequestInfo, ResponseInfo, RetryInfo];
    expect(answered.request).toBe(first);
    expect(first.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    expect(answered.ms).toBeGreaterThan(0);
    expect(retried.ms).toBeGreaterThanOrEqual(100);
  });

  it("that throw break no call, and are warned of once", async () => {
    const warnings: string[] = [];
    const fails = (): never => {
      throw new Error("no disk");
    };
    const { hooks, lines } = recorder();
    await withServer(
      inTurn(unavailable, { data: {} }),
      async (berth) => {
        await berth.reservations.create(ask);
        await berth.reservations.create(ask);
      },
      {
        hooks: [{ onRequest: fails, onResponse: fails, onRetry: fails }, hooks],
        onWarning: (message) => void warnings.push(message),
      },
    );
    expect(lines).toHaveLength(7);
    expect(warnings).toEqual([
      "the hook onRequest threw: no disk",
      "the hook onResponse threw: no disk",
      "the hook onRetry threw: no disk",
    ]);
  });

  it("are told how an aborted call and one out of time ended", async () => {
    const { hooks, lines } = recorder();
    await withServer(
      () => "never",
      async (berth) => {
        await rejection(berth.access.whoami({}, { timeoutMs: 30 }));
        const controller = new AbortController();
        const left = rejection(berth.access.whoami({}, { signal: controller.signal }));
        controller.abort("bye");
        expect(await left).toBe("bye");
      },
      { hooks },
    );
    expect(lines).toEqual([
      "request 0",
      "response 0 null null TIMEOUT",
      "request 0",
      "response 0 null null ABORTED",
    ]);
  });

  it("may add headers; of reads that share a request the first one's count", async () => {
    let spans = 0;
    const onRequest = ({ headers }: RequestInfo): void => {
      headers["traceparent"] = `00-span-${(spans += 1)}`;
    };
    await withServer(
      () => ({ data: {} }),
      async (berth, server) => {
        await Promise.all([berth.pools.list({ tenantId }), berth.access.whoami()]);
        await berth.reservations.create(ask);
        const sent = server.arrived.map(({ headers }) => headers["traceparent"]);
        expect(sent).toEqual(["00-span-1", "00-span-1", "00-span-3"]);
      },
      { hooks: { onRequest }, headers: { traceparent: "00-client" } },
    );
  });
});

describe("Berth-Retry-Count", () => {
  it("counts the tries that came before, for each call", async () => {
    await withServer(inTurn(unavailable, unavailable, { data: {} }), async (berth, server) => {
      await berth.pools.get({ tenantId, poolId });
      await berth.pools.get({ tenantId, poolId });
      const counts = server.arrived.map(({ headers }) => headers["berth-retry-count"]);
      expect(counts).toEqual([undefined, "1", "2", undefined]);
    });
  });
});

describe("an error", () => {
  it("names the key that the client made, so that another process can go on", async () => {
    const conflict: Reply = { status: 409, berth: told("CONFLICT") };
    for (const reply of ["cut" as const, conflict, "never" as const, { status: 200, body: "<p>" }])
      await withServer(
        () => reply,
        async (berth, server) => {
          const error = await rejection(
            berth.reservations.create(ask, { timeoutMs: 300, maxRetries: 1 }),
          );
          const sent = server.arrived.map(
            ({ input }) => (input as { idempotencyKey: string }).idempotencyKey,
          );
          expect(new Set(sent)).toEqual(
            new Set([(error as { idempotencyKey: string }).idempotencyKey]),
          );
          expect(sent.length).toBeGreaterThan(0);
        },
      );
    await withServer(inTurn(conflict), async (berth) => {
      expect(await rejection(berth.access.whoami())).toMatchObject({ idempotencyKey: null });
    });
  });
});
