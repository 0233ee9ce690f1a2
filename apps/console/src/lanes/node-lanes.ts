/** Nodes and reservations as lanes. Pure: what the API answers in, lanes out. */
import type { NodeSchedule, Reservation, Span, UnitSchedule } from "@berth/client";
import { shortId, whatText } from "../facts/describe.ts";
import { gpusText } from "../format/gpus.ts";
import { unitsText as countedText } from "../format/units.ts";
import type { Lane, LaneSpan, SpanKind } from "./model.ts";

/** Own reservations by id: what they are called and whether they are spot. */
export type Known = ReadonlyMap<string, Reservation>;

const KINDS: Readonly<Record<string, SpanKind>> = {
  mine: "mine",
  busy: "booked",
  maintenance: "maintenance",
  withheld: "withheld",
};

/**
 * A node's lane: units that are taken by the same booking for the same time are one bar, which says how many. Of
 * bookings of others nothing is known but the time, so those that begin and end together are one bar as well.
 */
export function laneOfNode(node: NodeSchedule, known: Known): Lane {
  const bars = new Map<string | number, Bar[]>();
  const all: Bar[] = [];
  for (const unit of node.units)
    for (const span of unit.spans) {
      // A booking takes all of its units for the same time; of others' the start is told, and most differ in it.
      const key = span.reservationId ?? span.start;
      const alike = bars.get(key) ?? [];
      const bar = alike.find((each) => isAlike(each.span, span));
      if (bar) bar.units.push(unit);
      else {
        const fresh = { span, units: [unit] };
        all.push(fresh);
        bars.set(key, [...alike, fresh]);
      }
    }
  const spans = all.map((bar) => spanOf(bar, known));
  const rack = node.labels["rack"];
  return { id: node.id, label: node.name, spans, ...(rack === undefined ? {} : { note: rack }) };
}

interface Bar {
  readonly span: Span;
  readonly units: UnitSchedule[];
}

function isAlike(one: Span, other: Span): boolean {
  return one.kind === other.kind && one.start === other.start && one.end === other.end;
}

/** Nodes by name as people count: node-9 before node-10. Asked again of the same node, its lane is the same object. */
export function nodeLanes(
  nodes: readonly NodeSchedule[],
  known: Known,
  /** Ids of nodes of which it is not known yet what takes them: an empty lane would say that nothing does. */
  unread: ReadonlySet<string> = new Set(),
): Lane[] {
  const names = new Intl.Collator("en", { numeric: true });
  return nodes
    .map((node) => knownLane(node, known, unread.has(node.id)))
    .toSorted((a, b) => names.compare(a.label, b.label));
}

/** Lanes as they were last made, by their node. */
const lately = new WeakMap<NodeSchedule, { known: Known; isUnread: boolean; lane: Lane }>();

function knownLane(node: NodeSchedule, known: Known, isUnread: boolean): Lane {
  const before = lately.get(node);
  if (before?.known === known && before.isUnread === isUnread) return before.lane;
  const made = laneOfNode(node, known);
  const note = [made.note, "being read"].filter(Boolean).join(", ");
  const lane = isUnread ? { ...made, note } : made;
  lately.set(node, { known, isUnread, lane });
  return lane;
}

/** A lane a reservation, by start: what runs or comes before what is over. */
export function reservationLanes(reservations: readonly Reservation[]): Lane[] {
  return reservations
    .toSorted((a, b) => a.start - b.start)
    .map((reservation) => {
      const { end, endedAt, id, spot, start } = reservation;
      const span: LaneSpan = {
        id,
        start,
        // What ended early takes nothing after that.
        end: Math.max(start, Math.min(end, endedAt ?? end)),
        kind: spot ? "spot" : "mine",
        label: whatText(reservation),
        reservationId: id,
      };
      return { id, label: span.label, note: shortId(id), spans: [span] };
    });
}

function spanOf({ span, units }: Bar, known: Known): LaneSpan {
  const { end, reservationId, start } = span;
  const id = `${span.kind} ${reservationId ?? ""} ${start} ${end}`;
  const reservation = reservationId === null ? undefined : known.get(reservationId);
  const kind = KINDS[span.kind] ?? "booked";
  const label = kind === "maintenance" ? "maintenance" : unitsText(units);
  return {
    id,
    start,
    end,
    reservationId,
    kind: reservation?.spot === true && kind === "mine" ? "spot" : kind,
    label,
  };
}

/** GPUs say how much of the node it is; what comes beside them goes without saying. */
function unitsText(units: readonly UnitSchedule[]): string {
  const gpus = units.filter((unit) => unit.class === "gpu").length;
  if (gpus > 0) return gpusText(gpus);
  const [first] = units;
  const parts = units.filter((unit) => unit.class === "gpu.mig" || unit.class === "gpu.slot");
  if (parts.length === 1 && first?.profile) return first.profile;
  return countedText(parts.length > 0 ? parts : units);
}
