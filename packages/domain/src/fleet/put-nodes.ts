/** Takes reports of nodes into their gate: makes the new ones, changes the others, all or none. */
import type { DeriveId, NodeId, SiteId, TenantId } from "../ids.ts";
import { type Node, type PoolConfig, SCALARS } from "../model.ts";
import { Profile } from "../profile.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";
import { mindNode } from "../reservations/heal.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { reviewUnitReservations } from "../unit-reservations/review.ts";
import { admit } from "./admit.ts";
import { holdersOf, tellOfNode } from "./events.ts";
import { mergedUnits, newUnits } from "./merge.ts";
import { type NodeReport, gibOf, reportedScalars } from "./report.ts";
import { gpusOf, partCount } from "./units.ts";

/** A pool of shared GPUs makes up to 48 units of each: what one write takes is bounded by those. */
const UNITS_A_CALL = 10_000;

export interface PutNodesAsk {
  readonly siteId: SiteId;
  /** The site's owner. */
  readonly ownerId: TenantId;
  readonly nodes: readonly OnePut[];
  /** Nodes of other gates that the same caller reports without GPUs that they had. */
  readonly givers?: readonly NodeId[];
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
  if (!checked.ok) return checked;
  const done = ask.nodes.map((one) => putNode(turn, ask, one));
  // Once all are as they are reported: what one has lost may find room on another.
  for (const { id, outcome } of done) if (outcome === "changed") mindNode(turn, id);
  return ok(done);
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
      for (const { gpuUuid, removed } of gpusOf(node))
        if (gpuUuid !== null && !removed && fresh.has(gpuUuid)) return true;
  return false;
}

function freshGpus(state: PoolState, { id, report }: OnePut): string[] {
  const node = state.node(id);
  const had = new Set(
    node && gpusOf(node).flatMap((gpu) => (gpu.removed ? [] : (gpu.gpuUuid ?? []))),
  );
  return (report.gpus ?? []).flatMap(({ uuid }) => (had.has(uuid) ? [] : uuid));
}

/** Whether the gate can take all of the reports; a caller with several gates asks each before it writes. */
export function checkNodes(state: PoolState, now: number, ask: PutNodesAsk): Result<null> {
  const units = unitsMade(state.config, ask.nodes);
  if (units > UNITS_A_CALL)
    return invalid(
      ["nodes"],
      `the pool would make ${units} units of these nodes, at most ${UNITS_A_CALL} are made in one call: send fewer nodes`,
    );
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

function unitsMade(config: PoolConfig | null, nodes: readonly OnePut[]): number {
  let units = 0;
  for (const { report } of nodes)
    for (const { model, memoryMiB, migProfiles = null } of report.gpus ?? [])
      units += partCount({ model, memoryGiB: gibOf(memoryMiB), migProfiles }, config);
  return units;
}

function putNode(turn: Turn, ask: PutNodesAsk, one: OnePut): PutNode {
  const { id } = one;
  const before = turn.state.node(id) ?? null;
  const after = before ? changedNode(turn, before, one.report) : newNode(turn, ask, one);
  const facts = { id, name: after.name, topologyGen: after.topologyGen };
  if (before === after) return { ...facts, outcome: "unchanged" };
  const givers = ask.givers?.length ? { givers: ask.givers } : {};
  turn.apply({ kind: "node", before, after, ...givers });
  tellOfPut(turn, before, after);
  reviewUnitReservations(turn, id);
  return { ...facts, outcome: before ? "changed" : "created" };
}

function newNode(turn: Turn, ask: PutNodesAsk, { id, report, was }: OnePut): Node {
  return {
    id,
    siteId: ask.siteId,
    ownerId: ask.ownerId,
    name: report.name,
    address: report.address ?? null,
    state: report.state ?? "ready",
    labels: report.labels ?? {},
    scalars: reportedScalars(report),
    topologyGen: (was?.topologyGen ?? 0) + 1,
    version: (was?.version ?? 0) + 1,
    tenantOwned: report.tenantOwned ?? false,
    maintenance: [],
    ...newUnits(turn, id, report),
  };
}

/** The node after the report; at the same version and generation when the report says nothing new. */
function changedNode(turn: Turn, before: Node, report: NodeReport): Node {
  const after: Node = {
    ...before,
    address: report.address ?? null,
    state: report.state ?? before.state,
    labels: report.labels ?? {},
    scalars: reportedScalars(report),
    tenantOwned: report.tenantOwned ?? false,
    ...mergedUnits(turn, before, report),
  };
  if (same(before, after)) return before;
  const rewired = topologyOf(before) !== topologyOf(after);
  return {
    ...after,
    version: before.version + 1,
    topologyGen: before.topologyGen + (rewired ? 1 : 0),
  };
}

/** Set, order, NVLink domains and VFIO groups of the GPUs that are there. */
function topologyOf(node: Node): string {
  const gpus = gpusOf(node).filter(({ removed }) => !removed);
  return JSON.stringify(gpus.map((gpu) => [gpu.id, gpu.nvlinkDomain, gpu.vfioGroup]));
}

/** Equal in everything that a report can change. */
function same(a: Node, b: Node): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint(node: Node): string {
  const { address, state, labels, scalars, tenantOwned, gpus, units } = node;
  return JSON.stringify([
    address,
    state,
    Object.entries(labels).toSorted(([x], [y]) => (x < y ? -1 : 1)),
    SCALARS.map((scalar) => scalars[scalar]),
    tenantOwned,
    gpus.length,
    [...gpus, ...units].map((u) => [
      [u.id, u.class, u.index, u.model, u.profile, u.placement, u.gpuUuid, u.memoryGiB],
      [u.nvlinkDomain, u.vfioGroup, u.pciAddress, u.parentUnitId, u.healthy, u.removed],
      u.migProfiles?.map(({ profile, size, starts }) => [profile, size, starts]),
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
  const was = new Map([...before.gpus, ...before.units].map((u) => [u.id, u.healthy]));
  for (const { id: unitId, healthy } of [...node.gpus, ...node.units])
    if ((was.get(unitId) ?? healthy) !== healthy)
      tellOfNode(turn, {
        type: "unit.healthChanged",
        node,
        touched: holdersOf(turn, node, unitId),
        more: { unitId, healthy },
      });
}
