/** Looks for other room for what a booking cannot use: the same request, the same window, the same tenant. */
import type { DeviceLine, Member, Node, PlaceRequest, Reservation } from "../model.ts";
import { type Result, invariant, ok } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Change } from "../turn.ts";
import { harmOfMember } from "./harm.ts";
import { findRoom } from "./room.ts";

/**
 * Members that are sound throughout, as many as it has; refused when there is no room for them, or the
 * payer's quota is in the way. Those that are sound where they are stay there when that can be; else all
 * of it goes elsewhere, or none. Nobody is preempted for it.
 */
export function rehouse(state: PoolState, reservation: Reservation): Result<readonly Member[]> {
  const sound = reservation.members.filter((m) => !harmOfMember(state, reservation, m));
  const beside = mayStay(state, reservation, sound) ? roomBeside(state, reservation, sound) : null;
  return beside?.ok ? beside : roomBeside(state, reservation, []);
}

/** None are left, or labels have changed and they do not share a topology domain any more. */
function mayStay(state: PoolState, { gang }: Reservation, sound: readonly Member[]): boolean {
  const key = gang?.topologyKey;
  if (key === undefined) return sound.length > 0;
  const values = new Set(sound.map(({ nodeId }) => state.node(nodeId)?.labels[key]));
  return values.size === 1 && !values.has(undefined);
}

/** The same, with a node that is no place for any of them, however sound it is. */
export function rehouseOff(
  state: PoolState,
  reservation: Reservation,
  leaving: Node,
): Result<readonly Member[]> {
  const after: Node = { ...leaving, state: "unreachable" };
  const out: Change = { kind: "node", before: leaving, after };
  return state.probe(out, () => rehouse(state, reservation));
}

/** Room for all members but those that stay. */
function roomBeside(
  state: PoolState,
  reservation: Reservation,
  kept: readonly Member[],
): Result<readonly Member[]> {
  const { config } = state;
  invariant(config, "a booking is a pool's");
  const request = requestBeside(state, reservation, kept);
  const charge = { tenantId: reservation.chargedTenantId, descendant: false };
  const found = state.probe(holdingOnly(reservation, kept), () =>
    findRoom(state, { config, charge, request }),
  );
  if (!found.ok) return found;
  const staying = new Map(kept.map((member) => [member.index, member]));
  const moved = found.value.values();
  const members = reservation.members.map(({ index }): Member => {
    const stays = staying.get(index);
    return stays ?? { ...(moved.next().value as Member), index };
  });
  return ok(members);
}

/** The reservation left with these members alone, and with nothing when there are none. */
function holdingOnly(before: Reservation, kept: readonly Member[]): Change {
  const after: Reservation =
    kept.length > 0 ? { ...before, members: kept, pins: [] } : { ...before, state: "released" };
  return { kind: "reservation", before, after };
}

/** What is to be placed. */
function requestBeside(
  state: PoolState,
  reservation: Reservation,
  kept: readonly Member[],
): PlaceRequest {
  const { binding, gang, spot, tenantId, topology, resources, start, end } = reservation;
  const rest = { binding, spot, tenantId, topology, resources, start, end };
  if (kept.length === 0) return { ...rest, gang, devices: reservation.devices };
  const size = reservation.members.length - kept.length;
  if (!gang) {
    const devices = reservation.devices.map((line) => ({ ...line, count: size }));
    return { ...rest, gang, devices };
  }
  const { topologyKey: key } = gang;
  const [staying] = kept;
  const domain = staying && key !== undefined ? state.node(staying.nodeId)?.labels[key] : undefined;
  const devices =
    key === undefined || domain === undefined
      ? reservation.devices
      : reservation.devices.map((line) => inDomain(line, { [key]: domain }));
  return { ...rest, gang: size > 1 ? { ...gang, size } : null, devices };
}

/** The line, of the topology domain of those that stay. */
function inDomain(line: DeviceLine, domain: Readonly<Record<string, string>>): DeviceLine {
  const labels = { ...domain, ...line.selector?.labels };
  return { ...line, selector: { ...line.selector, labels } };
}
