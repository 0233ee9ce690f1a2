/**
 * The GPU map's arithmetic, without a screen: each node becomes a row, each GPU a cell with one state, and what a GPU
 * is shared out into becomes parts of its cell. State and ownership are one value, so that no cell is told by two
 * colours that contradict each other.
 */
import type { NodeSchedule, Span, UnitSchedule } from "@berth/client";

/**
 * What a cell says, the first that holds:
 * `down` faulty or on a node that is out of service, and not booked by the viewer; `mine` and `spot` the viewer's own
 * booking runs; `booked` somebody else's does; `market` set aside and sold as spot; `withheld` set aside;
 * `maintenance` planned work runs; `later` a booking is to come; `free`.
 */
export type CellState =
  | "free"
  | "later"
  | "mine"
  | "spot"
  | "booked"
  | "market"
  | "withheld"
  | "maintenance"
  | "down";

/** A part of a GPU: a MIG instance or a slot. */
export interface CellPart {
  readonly unitId: string;
  /** Its MIG profile, or `slot`. */
  readonly name: string;
  readonly state: CellState;
  /** The viewer's own reservation that has it now or next. */
  readonly reservationId: string | null;
}

/** A GPU of the map. */
export interface Cell {
  readonly unitId: string;
  /** Its number on the node. */
  readonly index: number;
  readonly model: string | null;
  readonly nvlinkDomain: string | null;
  readonly state: CellState;
  /** The viewer's own reservation that has it now or next, or one of its parts. */
  readonly reservationId: string | null;
  /** When the state ends that it has now, or `later` begins; null when nobody knows. */
  readonly until: number | null;
  readonly healthy: boolean;
  /** Empty for a GPU that is not shared out. */
  readonly parts: readonly CellPart[];
}

/** A node of the map. */
export interface CellRow {
  readonly nodeId: string;
  readonly name: string;
  readonly nodeState: string;
  readonly group: string;
  readonly cells: readonly Cell[];
}

/** What is known beside the nodes' own spans. */
export interface CellFacts {
  readonly now: number;
  /** The viewer's own spot reservations. */
  readonly spot?: ReadonlySet<string> | undefined;
  /** Units that are set aside and on the spot market. */
  readonly market?: ReadonlySet<string> | undefined;
}

/** By what rows are put together. */
export type Grouping = "rack" | "nvlink";

interface Standing {
  readonly state: CellState;
  readonly reservationId: string | null;
  readonly until: number | null;
}

/** A node's row. GPUs in order of their numbers; parts in the order of theirs. */
export function rowOf(node: NodeSchedule, facts: CellFacts, grouping: Grouping = "rack"): CellRow {
  const parts = new Map<string, UnitSchedule[]>();
  for (const unit of node.units) {
    if (unit.parentUnitId === null) continue;
    parts.set(unit.parentUnitId, [...(parts.get(unit.parentUnitId) ?? []), unit]);
  }
  const whole = node.units
    .filter((unit) => unit.class === "gpu")
    .toSorted((a, b) => a.index - b.index)
    .map((gpu) => cellOf(node, { gpu, parts: parts.get(gpu.id) ?? [] }, facts));
  const listed = new Set(whole.map(({ unitId }) => unitId));
  const cut = [...parts].filter(([id]) => !listed.has(id));
  return {
    nodeId: node.id,
    name: node.name,
    nodeState: node.state,
    group: groupOf(node, grouping),
    cells: [...whole, ...cutCells(node, cut, facts)],
  };
}

/** Of a GPU that is shared out only the parts are listed: it is told by them, and numbered in their order. */
function cutCells(
  node: NodeSchedule,
  cut: readonly (readonly [string, UnitSchedule[]])[],
  facts: CellFacts,
): Cell[] {
  const first = (parts: readonly UnitSchedule[]): number =>
    Math.min(...parts.map(({ index }) => index));
  return cut
    .toSorted(([, a], [, b]) => first(a) - first(b))
    .flatMap(([id, parts], index) => {
      const [any] = parts;
      if (!any) return [];
      const healthy = parts.every((part) => part.healthy);
      const gpu = { ...any, id, class: "gpu" as const, index, profile: null, spans: [], healthy };
      return [cellOf(node, { gpu, parts }, facts)];
    });
}

/**
 * Rows by group, then by name as people count: node-9 before node-10. Asked again of the same nodes, a row in which
 * nothing has begun or ended since is the same object, and so are all rows together when nothing has in any.
 */
export function rowsOf(
  nodes: readonly NodeSchedule[],
  facts: CellFacts,
  grouping: Grouping = "rack",
): readonly CellRow[] {
  const names = new Intl.Collator("en", { numeric: true });
  const before = lately.get(nodes);
  const rows = nodes
    .map((node) => rowAt(node, facts, grouping))
    .toSorted((a, b) => names.compare(a.group, b.group) || names.compare(a.name, b.name));
  if (before?.length === rows.length && rows.every((row, at) => row === before[at])) return before;
  lately.set(nodes, rows);
  return rows;
}

interface KnownRow {
  readonly row: CellRow;
  readonly facts: CellFacts;
  readonly grouping: Grouping;
  /** When something on the node begins or ends next. */
  readonly until: number;
}

const lately = new WeakMap<readonly NodeSchedule[], readonly CellRow[]>();
const known = new WeakMap<NodeSchedule, KnownRow>();

function rowAt(node: NodeSchedule, facts: CellFacts, grouping: Grouping): CellRow {
  const old = known.get(node);
  const holds =
    old?.grouping === grouping &&
    old.facts.spot === facts.spot &&
    old.facts.market === facts.market &&
    old.facts.now <= facts.now &&
    facts.now < old.until;
  if (holds) return old.row;
  const row = rowOf(node, facts, grouping);
  known.set(node, { row, facts, grouping, until: nextTurn(node, facts.now) });
  return row;
}

function nextTurn({ units }: NodeSchedule, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { spans } of units)
    for (const { end, start } of spans) {
      if (start > now && start < next) next = start;
      if (end > now && end < next) next = end;
    }
  return next;
}

/** A domain that every node has its own of groups nothing: such a node stands by itself. */
function groupOf(node: NodeSchedule, grouping: Grouping): string {
  if (grouping === "rack") return node.labels["rack"] ?? "";
  return node.units.find(({ nvlinkDomain }) => nvlinkDomain !== null)?.nvlinkDomain ?? "";
}

function cellOf(
  node: NodeSchedule,
  { gpu, parts }: { gpu: UnitSchedule; parts: readonly UnitSchedule[] },
  facts: CellFacts,
): Cell {
  const shown = parts
    .toSorted((a, b) => (a.placement ?? a.index) - (b.placement ?? b.index))
    .map((part): CellPart => {
      const { state, reservationId } = standingOf(node, part, facts);
      return { unitId: part.id, name: part.profile ?? "slot", state, reservationId };
    });
  const whole = standingOf(node, gpu, facts);
  const standing = shown.length > 0 && whole.state === "free" ? shared(shown) : whole;
  const { id: unitId, index, model, nvlinkDomain, healthy } = gpu;
  return { unitId, index, model, nvlinkDomain, healthy, parts: shown, ...standing };
}

/** A GPU that is shared out is what most concerns the viewer of its parts. */
function shared(parts: readonly CellPart[]): Standing {
  const order: readonly CellState[] = ["mine", "spot", "booked", "later"];
  const state = order.find((each) => parts.some((part) => part.state === each)) ?? "free";
  const own = parts.find(({ reservationId }) => reservationId !== null);
  return { state, reservationId: own?.reservationId ?? null, until: null };
}

function standingOf(node: NodeSchedule, unit: UnitSchedule, facts: CellFacts): Standing {
  const { now } = facts;
  // By start: what comes after one that is to come is to come as well.
  const first = unit.spans.findIndex(({ start }) => start > now);
  const begun = first === -1 ? unit.spans : unit.spans.slice(0, first);
  const running = begun.filter(({ end }) => now < end);
  const find = (kind: Span["kind"]): Span | undefined => running.find((span) => span.kind === kind);
  const mine = find("mine");
  const id = mine?.reservationId ?? null;
  if (mine) return taken(id !== null && facts.spot?.has(id) ? "spot" : "mine", mine);
  if (!unit.healthy) return { state: "down", reservationId: null, until: null };
  const busy = find("busy");
  if (busy) return taken("booked", busy);
  const maintenance = find("maintenance");
  if (maintenance) return taken("maintenance", maintenance);
  if (node.state !== "ready") return { state: "down", reservationId: null, until: null };
  const withheld = find("withheld");
  if (withheld) return taken(facts.market?.has(unit.id) ? "market" : "withheld", withheld);
  return later(unit, now);
}

function taken(state: CellState, { end, reservationId }: Span): Standing {
  return { state, reservationId, until: end };
}

function later({ spans }: UnitSchedule, now: number): Standing {
  const coming = spans.filter(({ start, kind }) => start > now && kind !== "withheld");
  const own = coming.find(({ kind }) => kind === "mine");
  const next = own ?? coming[0];
  if (!next) return { state: "free", reservationId: null, until: null };
  return { state: "later", reservationId: next.reservationId, until: next.start };
}

/** How many of a cell's parts can be booked, in words for the cell; null for a whole GPU. */
export function partsFree({ parts }: Pick<Cell, "parts">): { free: number; used: number } | null {
  if (parts.length === 0) return null;
  const free = parts.filter(isFree).length;
  return { free, used: parts.length - free };
}

/** What is free of some cells now: whole GPUs, or their parts where there are any. */
export function freeOf(cells: readonly Cell[]): {
  readonly free: number;
  readonly all: number;
  readonly noun: "GPU" | "part";
} {
  const parts = cells.flatMap((cell) => cell.parts);
  const counted = parts.length > 0 ? parts : cells;
  return {
    free: counted.filter(isFree).length,
    all: counted.length,
    noun: parts.length > 0 ? "part" : "GPU",
  };
}

function isFree({ state }: { readonly state: CellState }): boolean {
  return state === "free" || state === "later";
}

/** The states that are to be seen in rows: what the key explains. */
export function statesIn(rows: readonly CellRow[]): ReadonlySet<CellState> {
  const all = rows.flatMap(({ cells }) =>
    cells.flatMap(({ parts, state }) => [state, ...parts.map((part) => part.state)]),
  );
  return new Set(all);
}
