/** Why a booking was refused, as the caller is told: with the time at which the same request would fit. */
import {
  type Booker,
  type BookingShape,
  type PoolId,
  type PoolState,
  type Refusal,
  type Result,
  bookingRefusal,
  ok,
} from "@berth/domain";
import type { Call } from "../../call.ts";
import { readPool } from "../capacity/read-pool.ts";

export interface Refused {
  /** What the pool's order decided; null when a wait was over: then it is what stands against it now. */
  readonly refusal: Refusal | null;
  readonly poolId: PoolId;
  readonly ask: Booker & { readonly shape: BookingShape };
}

/** The search for a time may take long, so it runs beside the pool's queue, not in it. */
export async function refusalNow(call: Call, refused: Refused): Promise<Refusal> {
  const { refusal, poolId, ask } = refused;
  if (refusal && refusal.code !== "NO_CAPACITY") return refusal;
  const { value: now } = await readPool(call, poolId, (state, at) => inWords(state, at, ask));
  if (!refusal || now.code !== "NO_CAPACITY") return refusal ?? now;
  return { ...now, reason: refusal.reason };
}

function* inWords(
  state: PoolState,
  now: number,
  ask: Refused["ask"],
): Generator<void, Result<Refusal>, void> {
  return ok(yield* bookingRefusal(state, now, ask));
}
