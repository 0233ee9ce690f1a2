/** Books devices. A repeated key answers the reservation that it made, whatever became of it since. */
import type { Input } from "@berth/contract";
import type { KeyClaim } from "@berth/db";
import {
  type Refusal,
  createReservation,
  notOfferedInRequest,
  ok,
  previewBooking,
} from "@berth/domain";
import { KeyTaken } from "@berth/engine";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, TenantScope } from "../../call.ts";
import { conflict, fromRefusal } from "../../errors.ts";
import { readPool } from "../capacity/read-pool.ts";
import { bookingAsk, bookingIssues } from "./booking-ask.ts";
import { requestHash } from "./request-hash.ts";
import { keyRow } from "./store.ts";
import { storedReservation } from "./stored-reservation.ts";
import { type ReservationView, reservationView, stateLookup } from "./view.ts";

type CreateInput = Input<"reservations.create">;
type NoCapacity = Extract<Refusal, { code: "NO_CAPACITY" }>;

export const create: Handler<"reservations.create"> = {
  check: bookingIssues,
  notOffered: notOfferedInRequest,
  replay: (call, input, scope) => replay(call, input, scope),

  async run(call, input, scope) {
    const { poolId } = scope.pool;

    // 1. What the request asks for.
    const ask = bookingAsk(input, scope);

    // 2. Booked in the pool's order, the key with it; somebody with the same key may have been faster.
    const decided = await call.deps.engine
      .submit(poolId, {
        name: call.method,
        tenantId: scope.tenantId,
        signal: call.signal,
        key: claim(call, input, scope),
        plan(turn) {
          const made = createReservation(turn, {
            ...ask,
            projectId: input.projectId ?? null,
            leaseSeconds: input.leaseSeconds ?? null,
            createdBy: call.principal.id,
          });
          return made.ok ? ok(reservationView(made.value, stateLookup(turn.state))) : made;
        },
      })
      .catch(async (thrown: unknown) => {
        const stored = thrown instanceof KeyTaken ? await replay(call, input, scope) : undefined;
        if (stored === undefined) throw thrown;
        return stored;
      });
    if (!("value" in decided)) return decided;

    call.answer.seq = decided.seq;
    if (decided.value.ok) return decided.value.value;

    // 3. Refused: perhaps because a twin of this very call took the last room or quota a moment ago.
    const twin = await replay(call, input, scope);
    if (twin !== undefined) return twin;

    // 4. Why it is refused, and when the same request would fit.
    const { refusal } = decided.value;
    if (refusal.code !== "NO_CAPACITY") throw fromRefusal(refusal);
    throw fromRefusal(await withEarliestStart(call, { refusal, poolId, ask }));
  },
};

/** The search may take long, so it runs beside the pool's queue, not in it. */
async function withEarliestStart(
  call: Call,
  refused: {
    readonly refusal: NoCapacity;
    readonly poolId: CreateInput["poolId"];
    readonly ask: ReturnType<typeof bookingAsk>;
  },
): Promise<NoCapacity> {
  const { refusal, poolId, ask } = refused;
  const { value } = await readPool(call, poolId, (state, now) => previewBooking(state, now, ask));
  const { earliestStart, searchedTo } = value;
  return { ...refusal, earliestStart, searchedTo };
}

function claim(
  call: Call,
  input: CreateInput,
  scope: TenantScope,
): Omit<KeyClaim, "reservationId"> {
  return {
    tenantId: scope.tenantId,
    principal: call.principal.id,
    key: input.idempotencyKey,
    requestHash: requestHash(input),
  };
}

/** What the key made, as it is now; undefined when the key is free. */
async function replay(
  call: Call,
  input: CreateInput,
  scope: TenantScope,
): Promise<ReservationView | undefined> {
  const { requestHash: hash, ...key } = claim(call, input, scope);
  const used = await keyRow(call.deps.db, key);
  // Another key of the same principal may be limited to other pools: it learns nothing of what was made there.
  if (!used || !poolInScope(call.principal, used.poolId)) return undefined;
  if (used.requestHash !== hash)
    throw conflict("key", {
      message: "The idempotency key was used for another request; a new request needs a new key.",
    });
  call.answer.replayed = true;
  return storedReservation(call, { poolId: used.poolId, id: used.reservationId });
}
