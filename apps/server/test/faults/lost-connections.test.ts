/** F8: connections cut at the very write, before the server has it, after it has answered, and while it runs. */
import { createBerth } from "@berth/client";
import { type CutAt, faultProxy, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, startServer } from "../harness.ts";
import { faultRun } from "./kit.ts";
import { METRICS_TOKEN, counter, expectEachKeyOnce } from "./together.ts";

const CUTS = 100;
const KINDS = ["before", "after", "zombie"] as const satisfies readonly CutAt[];
const CALLERS = 8;
/** Past so many creates for a cut the proxy does not cut. */
const CREATES_A_CUT = 14;

test("connections cut before, after and during a write: nothing lost, nothing doubled", async () => {
  await faultRun("F8", CUTS, async ({ count, random }) => {
    const database = await testDatabase();
    const proxy = await faultProxy(database.url, random);
    const server = await startServer({
      database: { ...database, url: proxy.url },
      config: { metricsToken: METRICS_TOKEN },
    });
    try {
      const { poolId } = await server.fleet(pool(64, 8));
      const token = await server.token("t-a");
      const berth = createBerth({ url: server.url, token, maxRetries: 8, timeoutMs: 60_000 });
      const on = /berth_apply_(together_)?v1/;
      proxy.set(
        ...KINDS.map((at) => ({ kind: "cut" as const, on, at, probability: 0.2, times: count })),
      );
      const cuts = () => KINDS.reduce((sum, at) => sum + proxy.counts[at], 0);
      const answered = new Map<string, string>();
      let next = 0;
      const caller = async () => {
        while (cuts() < 3 * count && next < 3 * count * CREATES_A_CUT) {
          const key = `key-${(next += 1)}`;
          const { id } = await berth.reservations.create({
            tenantId: "t-a",
            poolId,
            devices: [{ class: "gpu", count: 1 }],
            duration: "1h",
            idempotencyKey: key,
          });
          answered.set(key, id);
          // Most go again, so that the pool has room and releases are cut as well.
          if (next % 8 !== 0)
            await berth.reservations.release({ tenantId: "t-a", reservationId: id });
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      proxy.set();

      for (const at of KINDS) expect(proxy.counts[at], at).toBe(count);
      const became = (how: string) => counter(server.url, "berth_unknown_outcomes_total", how);
      const [committed, aborted] = [await became("committed"), await became("aborted")];
      expect(committed).toBeGreaterThan(0);
      expect(aborted).toBeGreaterThan(0);
      expect(await became("unresolved")).toBe(0);
      expect(await counter(server.url, "berth_violations_total")).toBe(0);
      await expectEachKeyOnce(database, answered);
      await expectHealthy(database.url);
      return (
        `${cuts()} connections cut at the write (${count} each before, after, zombie), ${committed} unknown ` +
        `outcomes had committed, ${aborted} had not, 0 unresolved, ${answered.size} acks, 0 lost, doctor clean`
      );
    } finally {
      await server.stop();
      await proxy.close();
      await database.close();
    }
  });
}, 600_000);
