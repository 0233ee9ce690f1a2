/**
 * Journey B: see why it does not fit, and when it will.
 *
 *   BERTH_URL=… BERTH_TOKEN=… BERTH_TENANT=vision BERTH_POOL=pool_… node examples/sdk/b.ts
 */
import { createBerth, gpus, isBerthError } from "@berth/client";

const { BERTH_TENANT: tenantId = "", BERTH_POOL: poolId = "" } = process.env;
const berth = createBerth();
const ask = { tenantId, poolId, ...gpus(16, { together: "rack" }), duration: "1h" };

// The journey
const { error } = await berth.reservations.create(ask).safe();
if (isBerthError(error, "NO_CAPACITY"))
  retryAt(error.earliestStart, { because: error.reason.message });
// Its end

function retryAt(time: number | null, { because }: { because: string }): void {
  console.log(because);
  console.log(time === null ? "no time known" : `earliest ${new Date(time).toISOString()}`);
}
