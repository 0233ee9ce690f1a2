/**
 * Journey A: book sixteen GPUs on one rack for next week.
 *
 *   BERTH_URL=… BERTH_TOKEN=… BERTH_TENANT=vision BERTH_POOL=pool_… node examples/sdk/a.ts
 */
import { createBerth, gpus } from "@berth/client";

const { BERTH_TENANT: tenantId = "", BERTH_POOL: poolId = "" } = process.env;
const start = monday(9);

// The journey
const berth = createBerth();
const ask = { tenantId, poolId, ...gpus(16, { together: "rack" }), start, duration: "7d" };
const plan = await berth.capacity.preview(ask);
const booked = plan.fits ? await berth.reservations.create(ask) : null;
// Its end

const nodes = booked?.members?.map(({ nodeName }) => nodeName).join(" and ");
console.log(booked ? `${booked.id} on ${nodes}` : plan.reason?.message);

/** The next Monday at that hour, UTC: milliseconds since the epoch. */
function monday(hour: number): number {
  const now = new Date();
  const days = 7 - ((now.getUTCDay() + 6) % 7);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days, hour);
}
