/**
 * Quota and room, the first two questions to every booking. What a hold costs is in the request; what a
 * lease of whole nodes costs depends on the nodes, so there the two are answered together.
 */
import { amountsHeld } from "../amounts.ts";
import type { Member, PlaceRequest, Resource } from "../model.ts";
import { type Candidate, type Placement, place } from "../placer/place.ts";
import {
  type Amounts,
  type QuotaLine,
  checkQuota,
  quotaLines,
  requestAmounts,
  withinQuota,
} from "../quota.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import { type ResolvedBooking, UNITS_MAX } from "./request.ts";

/**
 * What the booking would hold. Over quota is refused whether or not there is room; a lease takes the nodes
 * that suit best, or, when those are over quota, the ones with the fewest GPUs. `NO_CAPACITY` gives the
 * reason only (`searchedTo` is the start asked for).
 */
export function findRoom(state: PoolState, booking: ResolvedBooking): Result<readonly Member[]> {
  const { request, charge, showWithheld } = booking;
  const options = { candidatesMax: 1, showWithheld };
  if (request.binding === "hold") {
    const quota = checkQuota(linesOf(state, booking, requestAmounts(request)), charge);
    if (!quota.ok) return quota;
    return placedMembers(state, request, place(state, request, options));
  }
  const { lines, placement } = affordableLease(state, booking, place(state, request, options));
  const quota = checkQuota(lines, charge);
  return quota.ok ? placedMembers(state, request, placement) : quota;
}

/** The quota lines that creating checks, for a request that was placed like this. */
export function bookingQuota(
  state: PoolState,
  booking: ResolvedBooking,
  placement: Placement,
): readonly QuotaLine[] {
  return booking.request.binding === "hold"
    ? linesOf(state, booking, requestAmounts(booking.request))
    : affordableLease(state, booking, placement).lines;
}

interface Lease {
  readonly placement: Placement;
  readonly lines: readonly QuotaLine[];
}

/** The best nodes, unless they are over quota and others with fewer GPUs would do. */
function affordableLease(state: PoolState, booking: ResolvedBooking, best: Placement): Lease {
  const { request, showWithheld } = booking;
  if (!best.fits)
    return { placement: best, lines: linesOf(state, booking, leastOfLease(state, request)) };
  const lease = (placement: Extract<Placement, { fits: true }>): Lease => {
    const held = {
      binding: request.binding,
      members: membersOf(state, request, placement.members),
    };
    const amounts = amountsHeld(held, (id) => state.unit(id)?.unit);
    return { placement, lines: linesOf(state, booking, amounts) };
  };
  const first = lease(best);
  if (first.lines.every(withinQuota)) return first;
  const fewest = place(state, request, { candidatesMax: 1, showWithheld, fewestGpus: true });
  return fewest.fits ? lease(fewest) : first;
}

/** Any nodes of the pool at all would cost this much: what a lease costs at least that finds no room. */
function leastOfLease(state: PoolState, request: PlaceRequest): Amounts {
  const wanted = nodesWanted(request);
  const gpus = [...state.nodes()].map(({ units, gpus: carriers }) =>
    carriers.length > 0 ? carriers.length : units.filter((unit) => unit.class === "gpu").length,
  );
  const fewest = gpus.sort((a, b) => a - b).slice(0, wanted);
  const amounts = new Map<Resource, number>([["node", wanted]]);
  const sum = fewest.reduce((total, count) => total + count, 0);
  if (sum > 0) amounts.set("gpu", sum);
  return amounts;
}

function nodesWanted({ devices, gang }: PlaceRequest): number {
  return (gang?.size ?? 1) * (devices[0]?.count ?? 1);
}

function linesOf(state: PoolState, booking: ResolvedBooking, amounts: Amounts): QuotaLine[] {
  const { config, charge, request } = booking;
  const { start, end } = request;
  return quotaLines(state, config, { payer: charge.tenantId, amounts, start, end });
}

function placedMembers(
  state: PoolState,
  request: PlaceRequest,
  placement: Placement,
): Result<readonly Member[]> {
  if (!placement.fits)
    return refuse({
      code: "NO_CAPACITY",
      reason: placement.reason,
      earliestStart: null,
      searchedTo: request.start,
    });
  const members = membersOf(state, request, placement.members);
  const units = members.reduce((sum, { unitIds }) => sum + unitIds.length, 0);
  if (units > UNITS_MAX)
    return invalid(
      ["devices", 0, "count"],
      `a reservation has at most ${UNITS_MAX} units; these nodes have ${units}`,
    );
  return ok(members);
}

/** A whole node comes with all of its scalars, anything else with what was asked for. */
function membersOf(
  state: PoolState,
  request: Pick<PlaceRequest, "binding" | "resources">,
  taken: readonly Candidate[],
): Member[] {
  return taken.map(({ nodeId, unitIds }, index) => ({
    index,
    nodeId,
    unitIds,
    resources:
      request.binding === "node"
        ? (state.node(nodeId)?.scalars ?? request.resources)
        : request.resources,
  }));
}
