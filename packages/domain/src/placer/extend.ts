/** Whether a reservation can stay longer where it is: the same units, the same amounts. */
import type { NodeId } from "../ids.ts";
import { SCALARS } from "../model.ts";
import type { Member, Reservation, Scalar } from "../model.ts";
import { invariant } from "../refusal.ts";
import type { Cause, Reason } from "../refusal.ts";
import type { NodeEntry } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";
import { planOf } from "./plan.ts";
import { reasonOf } from "./reason.ts";
import { withheldFrom } from "./withheld.ts";

/** In a refusal the reason counts those of the reservation's own nodes that are in the way. */
export type Extension =
  | { readonly fits: true }
  | {
      readonly fits: false;
      /** The latest end that every unit, amount and maintenance window allows; never before the present one. */
      readonly latestEnd: number;
      readonly reason: Reason;
    };

/** @param end the end asked for, after the present one */
export function extension(state: PoolState, reservation: Reservation, end: number): Extension {
  const stops = new Map<NodeId, Stop>();
  for (const member of reservation.members) {
    const stop = firstStop(state, member, reservation);
    const known = stops.get(member.nodeId);
    if (!known || stop.at < known.at) stops.set(member.nodeId, stop);
  }
  const latestEnd = Math.min(...[...stops.values()].map((stop) => stop.at));
  if (latestEnd >= end) return { fits: true };
  const { binding, gang, spot, tenantId, devices, topology, resources } = reservation;
  const asked = { binding, gang, spot, tenantId, devices, topology, resources };
  const request = { ...asked, start: reservation.end, end };
  const inTheWay = [...stops.values()].filter((stop) => stop.at < end);
  const counts = new Map<Cause, number>();
  for (const { cause } of inTheWay) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  const scarce = new Set(inTheWay.flatMap((stop) => stop.scalars));
  const findings = { nodes: inTheWay.length, counts, scarce };
  return { fits: false, latestEnd, reason: reasonOf(planOf(state, request), findings) };
}

interface Stop {
  readonly at: number;
  readonly cause: Cause;
  readonly scalars: readonly Scalar[];
}

/** What stops this member from staying past its end, and when; at one instant in the filters' order. */
function firstStop(state: PoolState, member: Member, reservation: Reservation): Stop {
  const { end } = reservation;
  const entry = state.entry(member.nodeId);
  invariant(entry, `${member.nodeId} is not in ${state.gateId}`);
  const units = member.unitIds.map((id) => state.place(id)?.unit ?? -1);
  const stops: Stop[] = [];
  const stop = (cause: Cause, at: number, scalars: readonly Scalar[] = []): void => {
    stops.push({ at: Math.max(at, end), cause, scalars });
  };
  if (entry.node.state !== "ready") stop("NODE_STATE", end);
  for (const m of entry.node.maintenance) if (m.end > end) stop("MAINTENANCE", m.start);
  if (units.some((unit) => !entry.usable[unit])) stop("UNHEALTHY", end);
  for (const unit of units)
    stop("WITHHELD", withheldFrom({ entry, place: unit }, end, reservation));
  // A leased node is the lease's as a whole, with what joined it since.
  const held = reservation.binding === "node" ? entry.node.units.keys() : units;
  for (const unit of held) stop("BUSY", entry.calendar.nextStart(unit, end));
  for (const scalar of SCALARS) {
    const at = scarceFrom(entry, { scalar, amount: member.resources[scalar] }, end);
    stop("SCALAR", at, [scalar]);
  }
  return stops.reduce((first, next) => (next.at < first.at ? next : first));
}

function scarceFrom(
  entry: NodeEntry,
  ask: { readonly scalar: Scalar; readonly amount: number },
  from: number,
): number {
  const use = entry.scalarUse.get(ask.scalar)?.all;
  if (ask.amount === 0 || !use) return Number.POSITIVE_INFINITY;
  return (
    use.firstAbove(from, entry.node.scalars[ask.scalar] - ask.amount) ?? Number.POSITIVE_INFINITY
  );
}
