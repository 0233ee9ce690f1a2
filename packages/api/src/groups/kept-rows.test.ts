/** Reads that keep what they read are as fresh as reads that do not: every write is seen by the next read. */
import type { Database } from "@berth/db";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepingRows } from "./kept-rows.ts";
import { BookingApi } from "./test-kit.ts";

describe("what is kept of a key", () => {
  const db = {} as Database;
  const keys = ["a", "b"];

  test("is what a statement finds unmoved that was sent while it was known", () => {
    const kept = keepingRows<{ seq: number; text: string }>();
    expect(kept(db, keys).seqs).toEqual([null, null]);
    kept(db, keys).settle("a", { seq: 3, text: "third" });
    const asked = kept(db, keys);
    expect(asked.seqs).toEqual([3, null]);
    kept(db, keys).settle("a", { seq: 4, text: "fourth" });
    expect(asked.settle("a", null)).toEqual({ seq: 3, text: "third" });
    expect(kept(db, keys).seqs).toEqual([4, null]);
  });

  test("is not taken back by an answer that comes late", () => {
    const kept = keepingRows<{ seq: number }>();
    const late = kept(db, keys);
    kept(db, keys).settle("a", { seq: 5 });
    expect(late.settle("a", { seq: 4 })).toEqual({ seq: 4 });
    expect(kept(db, keys).seqs).toEqual([5, null]);
  });

  test("is that of one database alone, and nothing where one is asked for alone", () => {
    const kept = keepingRows<{ seq: number }>();
    kept(db, keys).settle("a", { seq: 5 });
    expect(kept({} as Database, keys).seqs).toEqual([null, null]);
    expect(kept(db, ["a"]).seqs).toEqual([null]);
  });
});

describe("a read after a read", () => {
  let api: BookingApi;
  beforeAll(async () => {
    api = await BookingApi.open();
  });
  afterAll(() => api.close());

  test("shows a booking, its end, and a change of the pool, to its owner and its guest", async () => {
    const owner = { tenantId: "t-own" };
    // Of a single pool nothing is kept.
    await api.pool(1, 4);
    const poolId = await api.pool(1, 4);
    // Lists first: what is read of a pool alone is fresh, and would be kept.
    const listed = async (tenantId: string) => {
      const { pools } = await api.call("pools.list", { tenantId });
      return pools.find(({ id }) => id === poolId);
    };
    const counts = async (): Promise<unknown[]> => {
      const { pools } = await api.call("capacity.summary", owner);
      const summed = pools.find((pool) => pool.poolId === poolId)?.capacity;
      return [
        summed?.find(({ resource }) => resource === "gpu")?.available,
        (await listed("t-a"))?.quota.find(({ resource }) => resource === "gpu")?.used,
        (await api.gpuRow(poolId)).available,
        await api.used(poolId, "t-a"),
      ];
    };
    expect(await counts()).toEqual([4, 0, 4, 0]);
    expect(await counts()).toEqual([4, 0, 4, 0]);
    const booked = await api.book(poolId, 3);
    expect(await counts()).toEqual([1, 3, 1, 3]);
    await api.release(booked);
    expect(await counts()).toEqual([4, 0, 4, 0]);

    expect((await listed("t-own"))?.gpuModel).toBe("H100");
    await api.call("pools.update", { ...owner, poolId, gpuModel: "B200" });
    for (const tenantId of ["t-own", "t-a"]) {
      expect((await listed(tenantId))?.gpuModel).toBe("B200");
      expect((await api.seen(poolId, tenantId)).gpuModel).toBe("B200");
    }
  });
});
