import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ask,
  inTurn,
  poolId,
  rejection,
  reservationId,
  tenantId,
  told,
  withServer,
} from "../test/berth-on-wire.ts";
import { type Berth, type Result, isBerthError } from "./index.ts";

const conflict = { status: 409, berth: told("CONFLICT", { requestId: null }) };

/** What nobody took, since the test began. */
let unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
/** Rejections are reported once the microtasks are through. */
const reported = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
let others: NodeJS.UnhandledRejectionListener[] = [];

beforeEach(() => {
  unhandled = [];
  others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", keep);
});
afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of others) process.on("unhandledRejection", listener);
});

describe("withResponse", () => {
  it("answers the data with the request's id, its status and its headers", async () => {
    await withServer(
      () => ({ data: { id: reservationId }, headers: { "x-berth-seq": "7" } }),
      async (berth) => {
        const whole = await berth.reservations.create(ask).withResponse();
        expect(whole).toMatchObject({
          data: { id: reservationId },
          requestId: "req-1",
          status: 200,
          isShared: false,
        });
        expect(whole.headers.get("x-berth-seq")).toBe("7");
      },
    );
  });

  it("says of reads that shared a request that they did", async () => {
    await withServer(
      (call) => (call.method === "pools.get" ? conflict : { data: {} }),
      async (berth) => {
        const alone = await berth.pools.list({ tenantId }).withResponse();
        expect(alone).toMatchObject({ isShared: false, requestId: "req-1", status: 200 });
        const [one, two, three] = await Promise.all([
          rejection(berth.pools.get({ tenantId, poolId }).withResponse()),
          berth.pools.list({ tenantId }).withResponse(),
          berth.access.whoami().withResponse(),
        ]);
        expect([two, three]).toMatchObject([
          { isShared: true, requestId: "req-2", status: 207 },
          { isShared: true, requestId: "req-2", status: 207 },
        ]);
        // The status of an error is the call's own, whatever the request's was.
        expect(one).toMatchObject({ code: "CONFLICT", status: 409, requestId: "req-2" });
      },
    );
  });
});

describe("safe", () => {
  it("answers data or error, and leaves no rejection behind", async () => {
    await withServer(inTurn(conflict, { data: { id: reservationId } }), async (berth) => {
      const failed = await berth.reservations.create(ask).safe();
      if (failed.ok) throw new Error("it is taken");
      expect(failed.error.code).toBe("CONFLICT");
      const booked = await berth.reservations.create(ask).safe();
      if (!booked.ok) throw booked.error;
      expect(booked.data.id).toBe(reservationId);
      await reported();
      expect(unhandled).toEqual([]);
    });
  });

  it("answers ABORTED for what this side did, whatever was thrown", async () => {
    await withServer(
      () => "never",
      async (berth) => {
        for (const reason of ["bye", new Error("bye"), null, Symbol("bye"), Object.create(null)]) {
          const signal = AbortSignal.abort(reason);
          const left = await berth.access.whoami({}, { signal }).safe();
          expect(left.error).toMatchObject({ code: "ABORTED", retryable: false });
          expect(left.error?.cause).toBe(reason);
          // Without it the call rejects with the reason itself, an error or not.
          expect(await rejection(berth.access.whoami({}, { signal }))).toBe(reason);
        }
        const none = await berth.access.whoami({}, { timeoutMs: -1 }).safe();
        expect(none.error?.message).toContain("timeoutMs must be more than 0");
      },
    );
  });
});

describe("a token function that throws", () => {
  const calls: readonly [string, (berth: Berth) => Promise<Result<unknown>>][] = [
    ["a read", (berth) => berth.access.whoami().safe()],
    ["a mutation", (berth) => berth.reservations.create(ask).safe()],
    ["a list", (berth) => berth.reservations.list({ tenantId }).safe()],
    ["a call by name", (berth) => berth.call("pools.list", { tenantId }).safe()],
  ];
  it.each(calls)("is an error as a value with safe(): %s", async (_what, call) => {
    for (const thrown of [new Error("the vault is shut"), "shut", null, undefined])
      for (const token of [
        (): never => {
          throw thrown as Error;
        },
        () => Promise.reject(thrown as Error),
      ])
        await withServer(
          () => "never",
          async (berth, server) => {
            const { ok, error } = await call(berth);
            expect(ok).toBe(false);
            expect(error).toMatchObject({ code: "ABORTED", retryable: false, requestId: null });
            if (thrown instanceof Error) expect(error?.message).toContain("the vault is shut");
            expect(server.requests()).toBe(0);
          },
          { token },
        );
    await reported();
    expect(unhandled).toEqual([]);
  });
});

describe("a call that nobody waits for", () => {
  it("is reported when it fails, as any promise is, and once", async () => {
    await withServer(inTurn(conflict), async (berth) => {
      void berth.reservations.create(ask);
      await expect.poll(() => unhandled.length).toBe(1);
      await reported();
      expect(unhandled).toHaveLength(1);
      expect(isBerthError(unhandled[0], "CONFLICT")).toBe(true);
    });
  });

  it("is not reported twice when its answer was taken with the response", async () => {
    await withServer(inTurn(conflict), async (berth) => {
      const error = await rejection(berth.reservations.create(ask).withResponse());
      expect(isBerthError(error, "CONFLICT")).toBe(true);
      await reported();
      expect(unhandled).toEqual([]);
    });
  });

  it("is a promise: it can be raced, chained and finished", async () => {
    await withServer(
      () => ({ data: { id: reservationId } }),
      async (berth) => {
        const call = berth.reservations.get({ tenantId, reservationId });
        expect(call).toBeInstanceOf(Promise);
        let isFinished = false;
        const id = await call
          .then((reservation) => reservation.id)
          .finally(() => {
            isFinished = true;
          });
        expect([id, isFinished]).toEqual([reservationId, true]);
        expect(await Promise.race([call, new Promise(() => undefined)])).toEqual({
          id: reservationId,
        });
      },
    );
  });
});
