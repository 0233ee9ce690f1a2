/** What PostgreSQL would refuse: by the gate's own look, or by a constraint that should never have to. */
import type { GateBatch, KeyClaim } from "@berth/db";
import {
  type Change,
  type GateId,
  type Node,
  type Reservation,
  type Unit,
  type UnitId,
  type UnitReservation,
} from "@berth/domain";
import { type Gate, type Span, spansOf } from "./memory-gate.ts";

type NodeChange = Extract<Change, { kind: "node" }>;

export function keyText({
  tenantId,
  principal,
  key,
}: Pick<KeyClaim, "tenantId" | "principal" | "key">): string {
  return JSON.stringify([tenantId, principal, key]);
}

interface Site {
  readonly gates: ReadonlyMap<GateId, Gate>;
  readonly removed: ReadonlyMap<string, Node>;
}

/** Whether what is new in the gate is at the site already, in another gate or under another name. */
export function elsewhere(site: Site, gateId: GateId, batch: GateBatch): boolean {
  const nodes = [...site.gates].flatMap(([id, gate]) =>
    [...gate.nodes.values()].map(({ node }) => ({ node, gateId: id })),
  );
  return batch.changes.some((change) => {
    if (change.kind !== "node" || !change.after) return false;
    const { after } = change;
    if (after.name !== change.before?.name) {
      const gone = site.removed.get(after.id);
      if (gone && gone.version >= after.version) return true;
      for (const { node, gateId: at } of nodes) {
        if (node.id === after.id && at !== gateId) return true;
        if (node.siteId === after.siteId && node.name === after.name && node.id !== after.id)
          return true;
      }
    }
    const fresh = freshGpus(change);
    const givers = new Set<string>(change.givers);
    return nodes.some(
      ({ node, gateId: at }) =>
        at !== gateId &&
        node.id !== after.id &&
        node.siteId === after.siteId &&
        !givers.has(node.id) &&
        [...node.gpus, ...node.units].some(
          ({ gpuUuid, removed }) => gpuUuid !== null && !removed && fresh.has(gpuUuid),
        ),
    );
  });
}

function freshGpus({ before, after }: NodeChange): Set<string> {
  const uuids = (node: Node | null): string[] =>
    [...(node?.gpus ?? []), ...(node?.units ?? [])].flatMap((unit) =>
      unit.removed || unit.class !== "gpu" ? [] : (unit.gpuUuid ?? []),
    );
  const had = new Set(uuids(before));
  return new Set(uuids(after).filter((uuid) => !had.has(uuid)));
}

/** Units of which another live unit reservation has a term that meets one of the batch's. */
export function fenced(gate: Gate | undefined, batch: GateBatch): UnitId[] {
  const changed = batch.changes.flatMap((c) => (c.kind === "unitReservation" ? [c] : []));
  const moved = new Set<string>(
    changed.flatMap(({ before, after }) => (after && termsChange(before, after) ? after.id : [])),
  );
  const others = [...(gate?.unitReservations.values() ?? [])]
    .map(({ row }) => row)
    .filter((row) => row.endedAt === null && !moved.has(row.id));
  const found = changed.flatMap(({ after }) => {
    if (!after || !moved.has(after.id) || after.endedAt !== null) return [];
    return after.unitIds.filter((unitId) =>
      others.some((other) => other.unitIds.includes(unitId) && meet(other, after)),
    );
  });
  return [...new Set(found)].toSorted();
}

function termsChange(before: UnitReservation | null, after: UnitReservation): boolean {
  const term = (row: UnitReservation): string =>
    [row.endedAt === null, row.startsAt, row.endsAt, ...row.unitIds].join();
  return before === null || term(before) !== term(after);
}

function meet(a: UnitReservation, b: UnitReservation): boolean {
  return a.startsAt < (b.endsAt ?? Infinity) && b.startsAt < (a.endsAt ?? Infinity);
}

export interface Violation {
  readonly sqlState: string;
  readonly what: string;
}

/** The constraints: no unit twice at one time, every booked unit here, nothing changed that is not there. */
export function violationOf(gate: Gate, batch: GateBatch): Violation | null {
  const changed = batch.changes.flatMap((c) => (c.kind === "reservation" ? [c] : []));
  for (const { before, after } of changed)
    if ((before !== null) !== gate.reservations.has(after.id))
      return { sqlState: "BG002", what: `${after.id} is not there, or there already` };
  const rows = changed.map(({ after }) => after);
  const held = rows.flatMap((row) => spansOf(row).map((span) => ({ row, span })));
  if (held.length === 0) return null;
  const units = unitsAfter(gate, batch);
  const touched = new Set<string>(rows.map(({ id }) => id));
  const others = new Map<UnitId, { row: Reservation; span: Span }[]>();
  const add = (one: { row: Reservation; span: Span }): unknown =>
    others.get(one.span.unitId)?.push(one) ?? others.set(one.span.unitId, [one]);
  const wanted = new Set<UnitId>(held.map(({ span }) => span.unitId));
  for (const { row } of gate.reservations.values())
    if (!touched.has(row.id))
      for (const span of spansOf(row)) if (wanted.has(span.unitId)) add({ row, span });
  for (const one of held) {
    const { unitId, from, to } = one.span;
    if (one.row.endedAt === null && !units.has(unitId))
      return { sqlState: "23502", what: `${one.row.id} books ${unitId}, which is not here` };
    const other = others.get(unitId)?.find(({ span }) => span.from < to && from < span.to);
    if (other)
      return { sqlState: "23P01", what: `${unitId} for ${one.row.id} and ${other.row.id}` };
    add(one);
  }
  return null;
}

function unitsAfter(gate: Gate, batch: GateBatch): Set<UnitId> {
  const nodes = new Map([...gate.nodes].map(([id, { node }]) => [id, node]));
  for (const change of batch.changes) {
    if (change.kind !== "node") continue;
    if (change.after) nodes.set(change.after.id, change.after);
    else if (change.before) nodes.delete(change.before.id);
  }
  return new Set([...nodes.values()].flatMap(({ units }) => units.map(({ id }: Unit) => id)));
}
