/** Live bookings by the thousand, each of two GPUs for an hour, one hour after the other. */
import { Caller } from "./caller.ts";
import { BOOKING, type Lane, freshKey } from "./pairs.ts";

const HOUR = 3_600_000;
/** Of 4,000 that begin in one hour on 1,000 nodes: some room stays, so that each of them fits. */
const FILL_PER_HOUR = 3_500;

export async function fill(lanes: readonly Lane[], bookings: number): Promise<void> {
  const base = Date.now();
  let next = 0;
  await Promise.all(
    lanes.map(async ({ url, token, tenantId, poolId }) => {
      const caller = new Caller(url, token);
      for (let i = next++; i < bookings; i = next++) {
        const start = base + (2 + Math.floor(i / FILL_PER_HOUR)) * HOUR;
        const ask = { tenantId, poolId, ...BOOKING, start, idempotencyKey: freshKey() };
        await caller.must("reservations.create", ask);
      }
      caller.close();
    }),
  );
}
