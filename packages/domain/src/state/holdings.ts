/** Puts what a reservation holds into its nodes, its payer's use and the rollup, or takes it out. */
import { heldAmounts } from "../amounts.ts";
import type { NodeId, UnitId } from "../ids.ts";
import { SCALARS } from "../model.ts";
import type { Member, Reservation, Unit } from "../model.ts";
import { invariant } from "../refusal.ts";
import type { Counters } from "./counters.ts";
import type { NodeEntry, Phase } from "./node-entry.ts";
import type { UsageBook } from "./usage.ts";

/** What the holdings are written into. */
export interface Books {
  readonly counters: Counters;
  readonly usage: UsageBook;
  entry(id: NodeId): NodeEntry | undefined;
  place(id: UnitId): { readonly entry: NodeEntry; readonly unit: number } | undefined;
}

/** As a whole, or only its place in the rollup: that is all that a start moves. */
export type Part = "all" | "phase";

export function phaseOf(reservation: Reservation): Phase {
  return reservation.startedAt === null ? "reserved" : "active";
}

/** A row that changes neither what it holds nor whether it has started moves nothing. */
export function partThatMoves(old: Reservation | undefined, next: Reservation | null): Part | null {
  if (!old || !next) return "all";
  const sameHolding =
    old.members === next.members &&
    (old.pins === next.pins || (old.pins.length === 0 && next.pins.length === 0)) &&
    old.start === next.start &&
    old.end === next.end &&
    old.chargedTenantId === next.chargedTenantId;
  if (!sameHolding) return "all";
  return phaseOf(old) === phaseOf(next) ? null : "phase";
}

/** @param step 1 puts it in, -1 takes it out */
export function moveHoldings(
  books: Books,
  reservation: Reservation,
  { step, part }: { readonly step: 1 | -1; readonly part: Part },
): void {
  const phase = phaseOf(reservation);
  for (const member of reservation.members) {
    const entry = entryOf(books, member.nodeId, reservation);
    const places = member.unitIds.map((id) => unitOf(books, id, entry));
    for (const unit of places) entry.countUnit(books.counters, { unit, phase }, step);
    if (reservation.binding === "node") entry.countLease(books.counters, phase, step);
    moveScalars(books, reservation, { entry, member, step, part });
    if (part === "phase") continue;
    for (const unit of places) moveBooking(entry, unit, { reservation, step });
    if (reservation.binding === "node") {
      const { id: reservationId, start, end } = reservation;
      entry.holdRest({ reservationId, start, end }, step);
    }
    charge(books, reservation, { units: places.map((at) => entry.node.units[at] as Unit), step });
  }
  if (part === "all") movePins(books, reservation, step);
}

function moveBooking(
  entry: NodeEntry,
  unit: number,
  {
    reservation: { id: reservationId, start, end },
    step,
  }: { readonly reservation: Pick<Reservation, "id" | "start" | "end">; readonly step: 1 | -1 },
): void {
  if (step === 1) entry.calendar.insert(unit, { start, end, reservationId });
  else entry.calendar.remove(unit, start, reservationId);
}

function charge(
  books: Books,
  reservation: Reservation,
  { units, step }: { readonly units: readonly Unit[]; readonly step: 1 | -1 },
): void {
  const { binding, chargedTenantId: tenantId } = reservation;
  for (const [resource, amount] of heldAmounts(binding, units))
    books.usage.charge({ tenantId, resource }, reservation, step * amount);
}

function moveScalars(
  books: Books,
  reservation: Reservation,
  move: {
    readonly entry: NodeEntry;
    readonly member: Member;
    readonly step: 1 | -1;
    readonly part: Part;
  },
): void {
  const { entry, member, step, part } = move;
  const { start, end, chargedTenantId: tenantId } = reservation;
  const phase = phaseOf(reservation);
  for (const scalar of SCALARS) {
    const amount = step * member.resources[scalar];
    if (amount === 0) continue;
    entry.useScalar(books.counters, scalar, (use) => {
      if (part === "all") use.all.add(start, end, amount);
      if (phase === "active") use.active += amount;
      else use.later.add(start, end, amount);
    });
    if (part === "all") books.usage.charge({ tenantId, resource: scalar }, reservation, amount);
  }
}

/** What is pinned is taken for everybody else, and neither charged nor counted a second time. */
function movePins(books: Books, reservation: Reservation, step: 1 | -1): void {
  for (const pin of reservation.pins) {
    const entry = entryOf(books, pin.nodeId, reservation);
    const gap = { id: reservation.id, start: pin.from, end: reservation.start };
    for (const id of pin.unitIds)
      moveBooking(entry, unitOf(books, id, entry), { reservation: gap, step });
    for (const scalar of SCALARS) {
      const amount = step * pin.resources[scalar];
      if (amount === 0) continue;
      entry.useScalar(books.counters, scalar, (use) => {
        use.all.add(gap.start, gap.end, amount);
      });
    }
  }
}

function entryOf(books: Books, nodeId: NodeId, holder: Reservation): NodeEntry {
  const entry = books.entry(nodeId);
  if (!entry) invariant(false, `${holder.id} holds ${nodeId}, which is not in its gate`);
  return entry;
}

function unitOf(books: Books, unitId: UnitId, entry: NodeEntry): number {
  const found = books.place(unitId);
  if (found?.entry !== entry) invariant(false, `unit ${unitId} is not on ${entry.node.id}`);
  return found.unit;
}
