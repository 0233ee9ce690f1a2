/** Takes reports of nodes into their gate: makes the new ones, changes the others, all or none. */
import type { NodeId, SiteId, TenantId } from "../ids.ts";
import { type Node, SCALARS, type Unit, UNIT_CLASSES } from "../model.ts";
import { Profile } from "../profile.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { admit } from "./admit.ts";
import { tellOfNode } from "./events.ts";
import {
  type DeriveId,
  type NodeReport,
  type ReportedUnit,
  reportedScalars,
  reportedUnits,
} from "./report.ts";

export interface PutNodesAsk {
  readonly siteId: SiteId;
  /** The site's owner. */
  readonly ownerId: TenantId;
  readonly nodes: readonly OnePut[];
  /** Nodes of other gates that the same caller reports without GPUs that they had. */
  readonly givers?: readonly NodeId[];
  readonly derive: DeriveId;
}

interface OnePut {
  readonly id: NodeId;
  readonly report: NodeReport;
  /** The caller saw it in this gate. */
  readonly member?: boolean;
  /** What it was when it was removed: it counts on from there. */
  readonly was?: Pick<Node, "version" | "topologyGen"> | undefined;
}

export interface PutNode {
  readonly id: NodeId;
  readonly name: string;
  readonly outcome: "created" | "changed" | "unchanged";
  readonly topologyGen: number;
}

/** The id of a node: its site and name, for ever. */
export function nodeIdOf(siteId: SiteId, name: string, derive: DeriveId): NodeId {
  return derive("node", "name", [siteId, name]);
}

/** Null: a node or a GPU is not where the caller saw it. Nothing was done; look again. */
export function putNodes(turn: Turn, ask: PutNodesAsk): Result<PutNode[] | null> {
  if (outdated(turn.state, ask)) return ok(null);
  const checked = checkNodes(turn.state, turn.now, ask);
  return checked.ok ? ok(ask.nodes.map((one) => putNode(turn, ask, one))) : checked;
}

/**
 * Whether a node has left this gate, or another node here has a GPU that a report brings. What is in other
 * gates is for the gate to see.
 */
function outdated(state: PoolState, ask: PutNodesAsk): boolean {
  if (ask.nodes.some(({ id, member }) => member && !state.node(id))) return true;
  const fresh = new Set(ask.nodes.flatMap((one) => freshGpus(state, one)));
  if (fresh.size === 0) return false;
  const reported = new Set(ask.nodes.map(({ id }) => id));
  for (const node of state.nodes())
    if (node.siteId === ask.siteId && !reported.has(node.id))
      for (const { gpuUuid, removed } of node.units)
        if (gpuUuid !== null && !removed && fresh.has(gpuUuid)) return true;
  return false;
}

function freshGpus(state: PoolState, { id, report }: OnePut): string[] {
  const had = new Set(
    state.node(id)?.units.flatMap((unit) => (unit.removed ? [] : (unit.gpuUuid ?? []))),
  );
  return (report.gpus ?? []).flatMap(({ uuid }) => (had.has(uuid) ? [] : uuid));
}

/** Whether the gate can take all of the reports; a caller with several gates asks each before it writes. */
export function checkNodes(state: PoolState, now: number, ask: PutNodesAsk): Result<null> {
  for (const { id, report, member = false } of ask.nodes) {
    const { name, tenantOwned = false } = report;
    const here = state.node(id) !== undefined;
    // It has left meanwhile: another gate is asked about it next.
    if (member && !here) continue;
    const admitted = admit(state.config, { name, siteId: ask.siteId, tenantOwned, member: here });
    if (!admitted.ok) return admitted;
    const fits = holdsItsBookings(state, now, { id, report });
    if (!fits.ok) return fits;
  }
  return ok(null);
}

function putNode(turn: Turn, ask: PutNodesAsk, one: OnePut): PutNode {
  const { id, report } = one;
  const before = turn.state.node(id) ?? null;
  const after = before
    ? changedNode(turn, before, { report, derive: ask.derive })
    : newNode(ask, one);
  const facts = { id, name: after.name, topologyGen: after.topologyGen };
  if (before === after) return { ...facts, outcome: "unchanged" };
  const givers = ask.givers?.length ? { givers: ask.givers } : {};
  turn.apply({ kind: "node", before, after, ...givers });
  tellOfPut(turn, before, after);
  return { ...facts, outcome: before ? "changed" : "created" };
}

function newNode({ siteId, ownerId, derive }: PutNodesAsk, { id, report, was }: OnePut): Node {
  return {
    id,
    siteId,
    ownerId,
    name: report.name,
    address: report.address ?? null,
    state: report.state ?? "ready",
    labels: report.labels ?? {},
    scalars: reportedScalars(report),
    topologyGen: (was?.topologyGen ?? 0) + 1,
    version: (was?.version ?? 0) + 1,
    tenantOwned: report.tenantOwned ?? false,
    maintenance: [],
    units: reportedUnits(id, report, derive).map((unit) => sound(unit, true)),
  };
}

function sound(unit: ReportedUnit, otherwise: boolean): Unit {
  return { ...unit, healthy: unit.healthy ?? otherwise };
}

/** The node after the report; at the same version and generation when the report says nothing new. */
function changedNode(
  turn: Turn,
  before: Node,
  { report, derive }: { report: NodeReport; derive: DeriveId },
): Node {
  const units = mergedUnits(turn, before, reportedUnits(before.id, report, derive));
  const after: Node = {
    ...before,
    address: report.address ?? null,
    state: report.state ?? before.state,
    labels: report.labels ?? {},
    scalars: reportedScalars(report),
    tenantOwned: report.tenantOwned ?? false,
    units,
  };
  if (same(before, after)) return before;
  const rewired = topologyOf(before) !== topologyOf(after);
  return {
    ...after,
    version: before.version + 1,
    topologyGen: before.topologyGen + (rewired ? 1 : 0),
  };
}

/** A device that is no longer reported leaves, or stays as removed while a live booking holds it. */
function mergedUnits(turn: Turn, before: Node, reported: readonly ReportedUnit[]): Unit[] {
  const known = new Map(before.units.map((unit) => [unit.id, unit]));
  const units = reported.map((unit) => {
    const old = known.get(unit.id);
    known.delete(unit.id);
    return old ? { ...sound(unit, old.healthy), key: old.key } : sound(unit, true);
  });
  const kept = [...known.values()]
    .filter((unit) => turn.state.bookingsOf(unit.id).length > 0)
    .map((unit) => ({ ...unit, removed: true }));
  return kept.length === 0 ? units : [...units, ...kept].sort(byClassIndexId);
}

function byClassIndexId(a: Unit, b: Unit): number {
  const byClass = UNIT_CLASSES.indexOf(a.class) - UNIT_CLASSES.indexOf(b.class);
  return byClass || a.index - b.index || (a.id < b.id ? -1 : 1);
}

/** Set, order, NVLink domains and VFIO groups of the GPUs that are there. */
function topologyOf(node: Node): string {
  const gpus = node.units.filter((unit) => unit.class === "gpu" && !unit.removed);
  return JSON.stringify(gpus.map((gpu) => [gpu.id, gpu.nvlinkDomain, gpu.vfioGroup]));
}

/** Equal in everything that a report can change. */
function same(a: Node, b: Node): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint(node: Node): string {
  const { address, state, labels, scalars, tenantOwned, units } = node;
  return JSON.stringify([
    address,
    state,
    Object.entries(labels).toSorted(([x], [y]) => (x < y ? -1 : 1)),
    SCALARS.map((scalar) => scalars[scalar]),
    tenantOwned,
    units.map((u) => [
      [u.id, u.class, u.index, u.model, u.profile, u.placement, u.gpuUuid, u.memoryGiB],
      [u.nvlinkDomain, u.vfioGroup, u.pciAddress, u.parentUnitId, u.healthy, u.removed],
    ]),
  ]);
}

/** A node never has less of a scalar than its live bookings take at any one instant. */
function holdsItsBookings(state: PoolState, now: number, { id, report }: OnePut): Result<null> {
  const scalars = reportedScalars(report);
  for (const scalar of SCALARS) {
    const use = new Profile();
    for (const { members, start, end } of state.reservationsOn(id))
      for (const { nodeId, resources } of members)
        if (nodeId === id) use.add(start, end, resources[scalar]);
    const peak = use.peakFrom(now);
    if (peak > scalars[scalar])
      return refuse({
        code: "INVALID_STATE",
        message: `node ${report.name}: live bookings take ${peak} ${scalar}, the report has ${scalars[scalar]}`,
      });
  }
  return ok(null);
}

function tellOfPut(turn: Turn, before: Node | null, node: Node): void {
  if (!before) return tellOfNode(turn, { type: "node.registered", node });
  const touched = turn.state.reservationsOn(node.id);
  if (before.state !== node.state) tellOfNode(turn, { type: "node.stateChanged", node, touched });
  if (before.topologyGen !== node.topologyGen)
    tellOfNode(turn, { type: "node.topologyChanged", node, touched });
  const was = new Map(before.units.map((unit) => [unit.id, unit.healthy]));
  for (const { id: unitId, healthy } of node.units)
    if ((was.get(unitId) ?? healthy) !== healthy)
      tellOfNode(turn, {
        type: "unit.healthChanged",
        node,
        touched: touched.filter((r) => r.members.some((m) => m.unitIds.includes(unitId))),
        more: { unitId, healthy },
      });
}
