/** Books devices for a window: the limits of the clock, the pool's state, quota, room, in this order. */
import type { ProjectId } from "../ids.ts";
import type { PlaceRequest, Reservation } from "../model.ts";
import { place } from "../placer/place.ts";
import { type Charge, checkQuota, quotaLines, requestAmounts } from "../quota.ts";
import { type Result, invariant, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { endingSoonAt } from "./ending-soon.ts";
import { change } from "./events.ts";
import { type Booker, type BookingShape, resolveBooking } from "./request.ts";

export interface CreateAsk extends Booker {
  readonly shape: BookingShape;
  readonly projectId: ProjectId | null;
  /** The booking lapses unless renewed this often; null = it lasts until its end. */
  readonly leaseSeconds: number | null;
  readonly createdBy: string;
}

/**
 * Books the best candidate. A booking that starts now is `active` at once. `NO_CAPACITY` gives the
 * reason only: when it would fit is a search that a batch must not wait for, so the caller asks for it
 * apart (`searchedTo` is the start asked for).
 */
export function createReservation(turn: Turn, ask: CreateAsk): Result<Reservation> {
  const resolved = resolveBooking(turn.state, turn.now, ask);
  if (!resolved.ok) return resolved;
  const { config, charge, request } = resolved.value;
  const amounts = requestAmounts(request.devices, request.resources);
  const { start, end } = request;
  const lines = quotaLines(turn.state, config, { payer: charge.tenantId, amounts, start, end });
  const quota = checkQuota(lines, charge);
  if (!quota.ok) return quota;
  const placement = place(turn.state, request, { candidatesMax: 1 });
  if (!placement.fits)
    return refuse({
      code: "NO_CAPACITY",
      reason: placement.reason,
      earliestStart: null,
      searchedTo: start,
    });
  const best = placement.candidates[0];
  invariant(best !== undefined, "a request that fits has a candidate");
  const after = newReservation(turn, ask, { poolId: config.id, request, charge, ...best });
  return ok(change(turn, "reservation.created", { before: null, after }));
}

function newReservation(
  turn: Turn,
  ask: CreateAsk,
  held: Pick<Reservation, "poolId"> &
    Pick<Reservation["members"][number], "nodeId" | "unitIds"> & {
      readonly request: PlaceRequest;
      readonly charge: Charge;
    },
): Reservation {
  const { start, end, devices, topology, resources } = held.request;
  return {
    id: turn.freshId("rsv"),
    poolId: held.poolId,
    tenantId: ask.tenantId,
    chargedTenantId: held.charge.tenantId,
    projectId: ask.projectId,
    state: start <= turn.now ? "active" : "scheduled",
    binding: "hold",
    spot: false,
    start,
    end,
    leaseSeconds: ask.leaseSeconds,
    leaseExpiresAt:
      ask.leaseSeconds === null ? null : Math.min(start + ask.leaseSeconds * 1_000, end),
    endingSoonAt: endingSoonAt(start, end),
    topology,
    devices,
    resources,
    members: [{ index: 0, nodeId: held.nodeId, unitIds: held.unitIds, resources }],
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: ask.createdBy,
    createdAt: turn.now,
    updatedAt: turn.now,
  };
}
