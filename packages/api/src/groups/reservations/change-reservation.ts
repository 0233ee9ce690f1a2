/** One change of a reservation through its pool's gate: what renew, extend, release and terminate share. */
import { type Reservation, type Result, type Turn, invariant, ok } from "@berth/domain";
import { auditEntry } from "../../audit.ts";
import type { Call, PoolScope } from "../../call.ts";
import { fromRefusal } from "../../errors.ts";
import { storedReservation } from "./stored-reservation.ts";
import { type ReservationView, reservationView, stateLookup } from "./view.ts";

/**
 * Runs the rule in the pool's order. A rule that answers null found the reservation ended: it is answered
 * as it is stored.
 * @throws ApiError when the rule refuses
 */
export async function changeReservation(
  call: Call,
  scope: PoolScope,
  plan: (turn: Turn) => Result<Reservation | null>,
): Promise<ReservationView> {
  const { pool } = scope;
  const committed = await call.deps.engine.submit(pool.poolId, {
    name: call.method,
    tenantId: scope.tenantId,
    signal: call.signal,
    file: () => auditEntry(call, scope.tenantId, namedReservation(scope).id),
    plan(turn) {
      // Nodes and units are looked up before the rule: what a release sets free may leave with it.
      const lookup = stateLookup(turn.state);
      const before = turn.state.reservation(namedReservation(scope).id);
      const shown = before && reservationView(before, lookup).members;
      const planned = plan(turn);
      if (!planned.ok || planned.value === null) return planned.ok ? ok(null) : planned;
      return ok({ ...reservationView(planned.value, null), members: shown ?? null });
    },
  });
  call.answer.seq = committed.seq;
  call.answer.filed = committed.filed === true;
  if (!committed.value.ok) throw fromRefusal(committed.value.refusal);
  if (committed.value.value !== null) return committed.value.value;
  return storedReservation(call, { poolId: pool.poolId, id: namedReservation(scope).id });
}

/** The reservation that the call named; the chain in front of every method has found it. */
export function namedReservation(scope: PoolScope): NonNullable<PoolScope["reservation"]> {
  invariant(scope.reservation, "a call on a reservation is given it");
  return scope.reservation;
}
