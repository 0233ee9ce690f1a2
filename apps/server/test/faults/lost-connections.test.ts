import { createBerth } from "@berth/client";
import { faultProxy, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, startServer } from "../harness.ts";
import { METRICS_TOKEN, counter, expectEachKeyOnce } from "./together.ts";

const CUTS = 200;
const CALLERS = 8;
const MOST_CREATES = 4_000;

test("200 connections cut after a write was sent: nothing lost, nothing doubled", async () => {
  const database = await testDatabase();
  let seed = 20_261_129;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const proxy = await faultProxy(database.url, random);
  const server = await startServer({
    database: { ...database, url: proxy.url },
    config: { metricsToken: METRICS_TOKEN },
  });
  try {
    const { poolId } = await server.fleet(pool(64, 8));
    const berth = createBerth({
      url: server.url,
      token: await server.token("t-a"),
      retries: 8,
      timeoutMs: 60_000,
    });
    const gate = /berth_apply_v1/;
    proxy.set(
      { kind: "cut", on: gate, at: "zombie", probability: 0.3, times: CUTS / 2 },
      { kind: "cut", on: gate, at: "after", probability: 0.3, times: CUTS / 2 },
    );
    const cuts = () => proxy.counts.zombie + proxy.counts.after;
    const answered = new Map<string, string>();
    let next = 0;
    const caller = async () => {
      while (cuts() < CUTS && next < MOST_CREATES) {
        const key = `key-${(next += 1)}`;
        const { id } = await berth.reservations.create({
          tenantId: "t-a",
          poolId,
          devices: [{ class: "gpu", count: 1 }],
          duration: "1h",
          idempotencyKey: key,
        });
        answered.set(key, id);
        // Every second one goes again, so that the pool has room and releases are cut as well.
        if (next % 2 === 0)
          await berth.reservations.release({ tenantId: "t-a", reservationId: id });
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    proxy.set();

    expect(cuts()).toBe(CUTS);
    const split = {
      committed: await counter(server.url, "berth_unknown_outcomes_total", "committed"),
      aborted: await counter(server.url, "berth_unknown_outcomes_total", "aborted"),
      unresolved: await counter(server.url, "berth_unknown_outcomes_total", "unresolved"),
    };
    process.stdout.write(
      `${CUTS} cuts (${proxy.counts.zombie} while running, ${proxy.counts.after} before the answer), ` +
        `${answered.size} creates: ${JSON.stringify(split)}\n`,
    );
    expect(split.committed + split.aborted).toBeGreaterThan(0);
    expect(split.unresolved).toBe(0);
    await expectEachKeyOnce(database, answered);
    await expectHealthy(database.url);
  } finally {
    await server.stop();
    await proxy.close();
    await database.close();
  }
}, 240_000);
