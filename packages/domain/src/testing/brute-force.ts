/**
 * The domain once more, the slow way: it reads the rules off plain data, tries every choice and every
 * instant, and shares no code with what it checks. Only for small pools and small integer times.
 */
import type { UnitReservation } from "../claims.ts";
import type {
  DeviceLine,
  Node,
  PlaceRequest,
  PoolSnapshot,
  Reservation,
  RollupRow,
  Unit,
} from "../model.ts";
import type { Cause } from "../refusal.ts";

const SCALARS = ["vcpu", "memoryGiB", "hugepages1Gi"] as const;
const CLASSES_OF = {
  exclusive: ["gpu", "nic.vf", "disk"],
  mig: ["gpu.mig", "nic.vf", "disk"],
  timeslice: ["gpu.slot", "nic.vf", "disk"],
  mps: ["gpu.slot", "nic.vf", "disk"],
};

/** Whether some window of the two has an instant in common. */
function meets(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return Math.max(a.start, b.start) < Math.min(a.end, b.end);
}

function holds(reservation: Reservation, unit: Unit): boolean {
  return reservation.members.some((member) => member.unitIds.includes(unit.id));
}

/** The whole node is leased, whatever joined it since. */
function leases({ nodes }: PoolSnapshot, { binding, members }: Reservation, unit: Unit): boolean {
  if (binding !== "node") return false;
  const node = nodes.find(({ units }) => units.some(({ id }) => id === unit.id));
  return members.some(({ nodeId }) => nodeId === node?.id);
}

/** A part of a GPU is no better than the GPU. */
export function bruteIsSound(node: Node, unit: Unit): boolean {
  const chain = [unit, ...node.gpus.filter((gpu) => gpu.id === unit.parentUnitId)];
  return chain.every(({ healthy, removed }) => healthy && !removed);
}

export function bruteIsFree(
  snapshot: PoolSnapshot,
  unit: Unit,
  window: { start: number; end: number },
): boolean {
  return !snapshot.reservations.some((r) => {
    const pinned = r.pins.filter((pin) => pin.unitIds.includes(unit.id));
    if (pinned.some((pin) => meets({ start: pin.from, end: r.start }, window))) return true;
    return (holds(r, unit) || leases(snapshot, r, unit)) && meets(r, window);
  });
}

/** Whether some unit reservation keeps the unit from the asker at some instant of the window. */
export function bruteIsWithheld(
  snapshot: PoolSnapshot,
  unit: Unit,
  request: PlaceRequest,
): boolean {
  return fencesAround(snapshot, unit, request).some((fence) => {
    if (fence.status === "needs-review") return true;
    if (fence.releasedUnitIds.includes(unit.id)) return !request.spot;
    return !fence.allowedOrgIds.includes(request.tenantId);
  });
}

function fencesAround(
  snapshot: PoolSnapshot,
  unit: Unit,
  window: { start: number; end: number },
): UnitReservation[] {
  return snapshot.unitReservations.filter((fence) => {
    const term = { start: fence.startsAt, end: fence.endsAt ?? Number.MAX_SAFE_INTEGER };
    return fence.unitIds.includes(unit.id) && meets(term, window);
  });
}

/** The request without the units that its tenant must not know of. */
export function asSeen(snapshot: PoolSnapshot, request: PlaceRequest): PlaceRequest {
  const secret = (id: string): boolean => {
    const unit = snapshot.nodes.flatMap((node) => node.units).find((u) => u.id === id);
    if (!unit) return false;
    return fencesAround(snapshot, unit, request).some((fence) => {
      if (fence.allowedOrgIds.includes(request.tenantId)) return false;
      return fence.status === "needs-review" || !fence.releasedUnitIds.includes(unit.id);
    });
  };
  const devices = request.devices.map((line) => {
    if (!line.selector?.unitIds) return line;
    const unitIds = line.selector.unitIds.filter((id) => !secret(id));
    return { ...line, selector: { ...line.selector, unitIds } };
  });
  return { ...request, devices };
}

export function bruteScalarPeak(
  snapshot: PoolSnapshot,
  about: { node: Node; scalar: (typeof SCALARS)[number] },
  window: { start: number; end: number },
): number {
  let peak = 0;
  for (let at = window.start; at < window.end; at += 1) {
    let level = 0;
    for (const r of snapshot.reservations) {
      const held = r.start <= at && at < r.end ? r.members : [];
      const pinned = r.pins.filter((pin) => pin.from <= at && at < r.start);
      for (const part of [...held, ...pinned]) {
        if (part.nodeId === about.node.id) level += part.resources[about.scalar];
      }
    }
    peak = Math.max(peak, level);
  }
  return peak;
}

function unitMatches(unit: Unit, line: DeviceLine): boolean {
  const wanted = line.selector ?? {};
  if (wanted.model !== undefined && wanted.model !== unit.model) return false;
  if (wanted.profile !== undefined && wanted.profile !== unit.profile) return false;
  if (wanted.memoryGiB !== undefined && (unit.memoryGiB ?? 0) < wanted.memoryGiB) return false;
  return wanted.unitIds === undefined || wanted.unitIds.includes(unit.id);
}

function labelsMatch(node: Node, line: DeviceLine): boolean {
  return Object.entries(line.selector?.labels ?? {}).every(
    ([key, value]) => node.labels[key] === value,
  );
}

/** Tries every way to give each line its units. */
export function bruteCanTake(
  units: readonly Unit[],
  request: PlaceRequest,
  linked: boolean,
): boolean {
  const taken: Unit[][] = request.devices.map(() => []);
  const fill = (line: number, from: number): boolean => {
    const ask = request.devices[line];
    if (!ask) return !linked || areLinked(taken, request);
    const mine = taken[line] as Unit[];
    if (mine.length === ask.count) return fill(line + 1, 0);
    for (let i = from; i < units.length; i += 1) {
      const unit = units[i] as Unit;
      if (unit.class !== ask.class || !unitMatches(unit, ask)) continue;
      if (taken.some((list) => list.includes(unit))) continue;
      mine.push(unit);
      if (fill(line, i + 1)) return true;
      mine.pop();
    }
    return false;
  };
  return fill(0, 0);
}

function areLinked(taken: readonly Unit[][], request: PlaceRequest): boolean {
  const sets = taken.filter((_, i) => request.devices[i]?.topology === "nvlink-all");
  if (request.topology === "nvlink-all") sets.push(taken.flat());
  return sets.every((set) => {
    const gpus = set.filter((unit) => unit.class === "gpu");
    if (gpus.length <= 1) return true;
    const domain = gpus[0]?.nvlinkDomain;
    return domain !== null && gpus.every((unit) => unit.nvlinkDomain === domain);
  });
}

/** What the caller may learn of withheld units besides. */
export interface BruteRequest extends PlaceRequest {
  readonly showWithheld?: boolean;
}

/** The node's cause, or null when it takes one member of the request. */
export function bruteCause(snapshot: PoolSnapshot, node: Node, asked: BruteRequest): Cause | null {
  const seen = asked.showWithheld ? asked : asSeen(snapshot, asked);
  const request = seen.binding === "node" ? asHold(node, seen) : seen;
  const structural =
    seen.binding === "node" ? neverWhole(node, seen) : neverFits(snapshot, node, seen);
  if (structural) return structural;
  if (node.state !== "ready") return "NODE_STATE";
  if (node.maintenance.some((m) => meets(m, request))) return "MAINTENANCE";
  const healthy = node.units.filter((unit) => bruteIsSound(node, unit));
  if (!bruteCanTake(healthy, request, true)) return "UNHEALTHY";
  if (seen.binding === "node" && node.gpus.some((gpu) => !gpu.healthy || gpu.removed))
    return "UNHEALTHY";
  const open = healthy.filter((unit) => !bruteIsWithheld(snapshot, unit, request));
  if (!bruteCanTake(open, request, true)) return asked.showWithheld ? "WITHHELD" : "BUSY";
  const free = open.filter((unit) => bruteIsFree(snapshot, unit, request));
  if (!bruteCanTake(free, request, false)) return "BUSY";
  if (!bruteCanTake(free, request, true)) return "NVLINK";
  const scarce = SCALARS.some((scalar) => {
    const ask = request.resources[scalar];
    if (ask === 0) return false;
    return bruteScalarPeak(snapshot, { node, scalar }, request) + ask > node.scalars[scalar];
  });
  return scarce ? "SCALAR" : null;
}

function neverFits(snapshot: PoolSnapshot, node: Node, request: PlaceRequest): Cause | null {
  const mode = snapshot.config?.sharing ?? "exclusive";
  if (request.devices.some((line) => !CLASSES_OF[mode].includes(line.class))) return "CLASS";
  for (const line of request.devices) {
    if (!line.selector) continue;
    if (!labelsMatch(node, line)) return "SELECTOR";
    const matching = node.units.filter((unit) => unitMatches(unit, line));
    const hasClass = node.units.some((unit) => unit.class === line.class);
    if (matching.length === 0) return "SELECTOR";
    if (hasClass && !matching.some((unit) => unit.class === line.class)) return "SELECTOR";
  }
  for (const line of request.devices) {
    if (!node.units.some((unit) => unit.class === line.class)) return "CLASS";
  }
  if (!bruteCanTake(node.units, request, false)) return "COUNT";
  if (!bruteCanTake(node.units, request, true)) return "NVLINK";
  return SCALARS.some((s) => request.resources[s] > node.scalars[s]) ? "SCALAR" : null;
}

/** A whole node, as a request for all that it has: a line a unit would do as well, a line a class is faster. */
function asHold(node: Node, request: PlaceRequest): PlaceRequest {
  const classes = [...new Set(node.units.map((unit) => unit.class))];
  const devices = classes.map((kind) => {
    return { class: kind, count: node.units.filter((unit) => unit.class === kind).length };
  });
  return { ...request, devices, topology: "any", resources: node.scalars };
}

function neverWhole(node: Node, request: PlaceRequest): Cause | null {
  const line = request.devices[0] as DeviceLine;
  const { model, memoryGiB, profile, unitIds } = line.selector ?? {};
  if (!labelsMatch(node, line) || profile !== undefined || unitIds !== undefined) return "SELECTOR";
  const gpus = [...node.gpus, ...node.units.filter((unit) => unit.class === "gpu")];
  const unlike = gpus.some(
    (gpu) =>
      (model !== undefined && gpu.model !== model) ||
      (memoryGiB !== undefined && (gpu.memoryGiB ?? 0) < memoryGiB),
  );
  const picky = model !== undefined || (memoryGiB ?? 0) > 0;
  if (unlike || (picky && gpus.length === 0)) return "SELECTOR";
  if (node.units.length === 0) return "COUNT";
  const uncut = node.gpus.some((gpu) => node.units.every((u) => u.parentUnitId !== gpu.id));
  if (uncut) return "COUNT";
  const linked = request.topology === "nvlink-all" || line.topology === "nvlink-all";
  const domains = new Set(gpus.map((gpu) => gpu.nvlinkDomain));
  if (linked && gpus.length > 1 && (domains.size > 1 || domains.has(null))) return "NVLINK";
  return SCALARS.some((s) => request.resources[s] > node.scalars[s]) ? "SCALAR" : null;
}

/** Charged use at one instant. */
export function bruteUsage(
  snapshot: PoolSnapshot,
  about: { tenantId: string; resource: string },
  at: number,
): number {
  const units = new Map(
    snapshot.nodes.flatMap((n) => n.units.map((u) => [u.id as string, u.class as string])),
  );
  let sum = 0;
  for (const r of snapshot.reservations) {
    if (r.chargedTenantId !== about.tenantId || at < r.start || at >= r.end) continue;
    for (const member of r.members) {
      sum += member.unitIds.filter((id) => units.get(id) === about.resource).length;
      for (const scalar of SCALARS) if (scalar === about.resource) sum += member.resources[scalar];
    }
  }
  return sum;
}

/** Counts unit by unit, asking each question of the plain rows. */
export function bruteRollup(snapshot: PoolSnapshot, now: number, lastInstant: number): RollupRow[] {
  const rows = new Map<string, Record<string, number>>();
  // What is pinned is no row's use.
  const unpinned = snapshot.reservations.map((r) => ({ ...r, pins: [] }));
  const row = (resource: string): Record<string, number> => {
    if (!rows.has(resource)) rows.set(resource, {});
    return rows.get(resource) as Record<string, number>;
  };
  const add = (resource: string, column: string, amount: number): void => {
    const counted = row(resource);
    counted[column] = (counted[column] ?? 0) + amount;
  };
  for (const node of snapshot.nodes) {
    const inWindow = node.maintenance.some((m) => m.active);
    const nodeColumn = inWindow
      ? "maintenance"
      : node.state === "ready"
        ? "allocatable"
        : node.state;
    add("node", "total", 1);
    add("node", nodeColumn, 1);
    if (nodeColumn === "allocatable") add("node", "left", 1);
    for (const unit of node.units) {
      const fault = !bruteIsSound(node, unit) && node.state !== "unreachable";
      const column = fault ? "unhealthy" : nodeColumn;
      const mine = snapshot.reservations.filter((r) => holds(r, unit));
      const allocated = mine.some((r) => r.start <= now) ? 1 : 0;
      const reserved = mine.some((r) => r.start > now) ? 1 : 0;
      add(unit.class, "total", 1);
      add(unit.class, column, 1);
      add(unit.class, "allocated", allocated);
      add(unit.class, "reserved", reserved);
      if (column === "allocatable") add(unit.class, "left", 1 - allocated - reserved);
    }
    for (const scalar of SCALARS) {
      const total = node.scalars[scalar];
      const started = {
        ...snapshot,
        reservations: unpinned.filter((r) => r.start <= now),
      };
      const later = {
        ...snapshot,
        reservations: unpinned.filter((r) => r.start > now),
      };
      const about = { node, scalar };
      const used = bruteScalarPeak(started, about, { start: now, end: now + 1 });
      const peak = bruteScalarPeak(later, about, { start: now, end: lastInstant });
      const allocated = Math.min(total, used);
      const reserved = Math.min(total, peak);
      add(scalar, "total", total);
      add(scalar, nodeColumn, total);
      add(scalar, "allocated", allocated);
      add(scalar, "reserved", reserved);
      if (nodeColumn === "allocatable") add(scalar, "left", total - allocated - reserved);
    }
  }
  const answer: RollupRow[] = [];
  for (const resource of [...rows.keys()].sort()) {
    const counted = row(resource);
    const of = (column: string): number => counted[column] ?? 0;
    if (of("total") === 0) continue;
    answer.push({
      resource: resource as RollupRow["resource"],
      total: of("total"),
      allocatable: of("allocatable"),
      allocated: of("allocated"),
      reserved: of("reserved"),
      available: Math.max(0, of("left")),
      provisioning: of("provisioning"),
      unhealthy: of("unhealthy"),
      maintenance: of("maintenance"),
      unreachable: of("unreachable"),
    });
  }
  return answer;
}

/** Asks of every bucket and every GPU whether some booking touches it. */
export function bruteTimeline(
  snapshot: PoolSnapshot,
  window: { from: number; to: number; step: number },
): { start: number; booked: number }[] {
  const buckets: { start: number; booked: number }[] = [];
  for (let start = window.from; start < window.to; start += window.step) {
    const bucket = { start, end: Math.min(start + window.step, window.to) };
    const gpus = snapshot.nodes.flatMap((n) => n.units.filter((u) => u.class === "gpu"));
    const booked = gpus.filter((unit) => !bruteIsFree(snapshot, unit, bucket)).length;
    buckets.push({ start, booked });
  }
  return buckets;
}
