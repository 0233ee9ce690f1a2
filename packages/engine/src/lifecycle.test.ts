/** The worker of time passing, where more pools are due than it looks at in one round. */
import type { PoolId } from "@berth/domain";
import { expect, test } from "vitest";
import { createEngine } from "./engine.ts";
import { type Scheduler, TIMERS } from "./scheduler.ts";
import { POOL, book, storeWithPool } from "./testing/fixtures.ts";
import { seeded } from "./testing/seeded.ts";

const HOUR = 3_600_000;
const LOOK_MS = 7;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

test("what is due in many pools at once is applied by one look, however many there are", async () => {
  const store = await storeWithPool(1, 2);
  const random = seeded(13);
  const dueAtLooks: number[] = [];
  const { promise: twice, resolve: lookedTwice } = Promise.withResolvers<void>();
  const scheduler: Scheduler = {
    ...TIMERS,
    async delay(ms, options) {
      if (ms === LOOK_MS) dueAtLooks.push((await store.due()).length);
      if (dueAtLooks.length === 2) lookedTwice();
      return TIMERS.delay(ms, options);
    },
  };
  const engine = createEngine({
    store,
    random: (count) => random.bytes(count),
    log: quiet,
    elapsed: () => performance.now(),
    scheduler,
    options: { lifecycleMs: LOOK_MS, rebuildMs: 0 },
  });
  await engine.submit(POOL, book({ tenantId: "t-a", gpus: 2, durationMs: HOUR }));
  const made = store.gates.get(POOL);
  if (!made) throw new Error("the pool is there");
  for (let n = 1; n < 200; n += 1) {
    const id: PoolId = `pool_${String(n).padStart(26, "0")}`;
    store.gates.set(id, structuredClone(made));
  }
  store.clock += HOUR;
  engine.start();
  await twice;
  await engine.stop();
  expect(dueAtLooks.slice(0, 2)).toEqual([200, 0]);
});
