/** Who is told to leave for whom: nobody without need, and somebody whenever that makes room. */
import type { PlaceRequest, PoolSnapshot, Reservation } from "../../model.ts";
import { place } from "../../placer/place.ts";
import { resolveBooking } from "../../reservations/request.ts";
import { findRoom } from "../../reservations/room.ts";
import { PoolState } from "../../state/pool-state.ts";
import { changed } from "../history.ts";
import { meets } from "./plain.ts";
import type { Batch } from "./world.ts";

export function faultsOfNotice(batch: Batch): string[] {
  return [...needless(batch), ...missed(batch)];
}

/** Victims without whose going the newcomer would have had its room as well. */
function needless({ before, turn }: Batch): string[] {
  const faults: string[] = [];
  let rows = before;
  const told = new Map<string, { readonly rows: PoolSnapshot; readonly victims: Reservation[] }>();
  for (const change of turn.changes) {
    if (change.kind === "reservation" && change.before && change.after.preemption) {
      const { byId, noticeAt } = change.after.preemption;
      if (noticeAt === turn.now && !change.before.preemption) {
        const known = told.get(byId) ?? { rows, victims: [] };
        known.victims.push(change.before);
        told.set(byId, known);
      }
    }
    const newcomer = change.kind === "reservation" && !change.before ? change.after : null;
    const found = newcomer && told.get(newcomer.id);
    if (newcomer && found)
      for (const { id } of found.victims) {
        const others = found.victims.filter((victim) => victim.id !== id);
        if (hasRoom(without(found.rows, others, newcomer.start), newcomer, newcomer))
          faults.push(`${id} has to go for ${newcomer.id} and changes nothing by it`);
      }
    rows = changed(rows, change);
  }
  return faults;
}

/** A regular request without room, though there would be some if others had to go. */
function missed({ gate: { state, rows }, turn }: Batch): string[] {
  const asked = turn.lacksRoom;
  if (!asked || asked.shape.spot) return [];
  const booking = resolveBooking(state, turn.now, asked);
  if (!booking.ok) return [];
  const { charge, config, request } = booking.value;
  const start = Math.max(
    request.start,
    turn.now + (config.policy.spot?.noticeSeconds ?? 120) * 1_000,
  );
  const later = { ...request, start, end: start + request.end - request.start };
  // Where there is room by then nobody has to go, be that room too dear for the payer or not.
  if (place(state, later).fits) return [];
  const payer = { chargedTenantId: charge.tenantId };
  const spot = rows.reservations.filter(
    (r) => r.spot && r.state !== "preempting" && meets(r, later),
  );
  return hasRoom(without(rows, spot, start), later, payer)
    ? [`${asked.tenantId} found no room, and others could have gone`]
    : [];
}

function without(rows: PoolSnapshot, gone: readonly Reservation[], from: number): PoolSnapshot {
  const ids = new Set(gone.map(({ id }) => id));
  const reservations = rows.reservations.flatMap((r) => {
    if (!ids.has(r.id)) return [r];
    return r.start >= from ? [] : [{ ...r, end: Math.min(r.end, from) }];
  });
  return { ...rows, reservations };
}

function hasRoom(
  rows: PoolSnapshot,
  request: PlaceRequest,
  { chargedTenantId: tenantId }: Pick<Reservation, "chargedTenantId">,
): boolean {
  const { config } = rows;
  const charge = { tenantId, descendant: false };
  return config !== null && findRoom(PoolState.load(rows), { config, charge, request }).ok;
}
