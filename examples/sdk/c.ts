/**
 * Journey C: take set-aside GPUs back from the spot market, and end exactly whom the dry run named, or nobody.
 *
 *   BERTH_URL=… BERTH_TOKEN=… BERTH_NODE=node_… BERTH_UNIT_RESERVATION=ursv_… node examples/sdk/c.ts
 */
import { createBerth } from "@berth/client";

const { BERTH_NODE: nodeId = "", BERTH_UNIT_RESERVATION: reservationId = "" } = process.env;
const { unitReservations } = createBerth();
const fence = { nodeId, reservationId };

// The journey
const plan = await unitReservations.reclaim({ ...fence, dryRun: true });
const done = await unitReservations.reclaim({ ...fence, expect: plan.wouldTerminate });
// Its end

console.log(`${done.terminated?.length ?? 0} ended, ${done.id} is ${done.status}`);
