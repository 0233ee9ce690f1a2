/** A request made ready for walking the nodes: what depends on a node's shape alone is found once a shape. */
import type { NodeId } from "../ids.ts";
import type { DeviceClass, PlaceRequest, Scalar, Selector, SharingMode } from "../model.ts";
import { SCALARS } from "../model.ts";
import type { Cause } from "../refusal.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { PoolView } from "../state/pool-view.ts";
import type { Weighed } from "../state/demand-mix.ts";
import { USUAL } from "../state/pool-demand.ts";
import type { UnitAsk } from "../state/pool-demand.ts";
import type { Shape, ShapeUnit } from "../state/shape.ts";
import { canSeat, demandOf, enough, newSearch, UnitList } from "./matching.ts";
import type { Demand, Search } from "./matching.ts";
import type { MixTable } from "./growth.ts";
import { wholeShapeFit } from "./node-binding.ts";
import type { Policy } from "./score.ts";
import { withoutHidden } from "./withheld.ts";

/** The units that a sharing mode makes of a node. */
const CLASSES_OF: Readonly<Record<SharingMode, readonly DeviceClass[]>> = {
  exclusive: ["gpu", "nic.vf", "disk"],
  mig: ["gpu.mig", "nic.vf", "disk"],
  timeslice: ["gpu.slot", "nic.vf", "disk"],
  mps: ["gpu.slot", "nic.vf", "disk"],
};

/** What a request finds on a shape, all of it empty and healthy. */
export interface ShapeFit {
  /** Why it could never fit; null when it could. */
  readonly cause: Cause | null;
  /** What one member wants of it. */
  readonly demand: Demand;
  /** Units that one member wants in all. */
  readonly wanted: number;
  /** Units that matter: those that may serve a line, and all of the class that the score looks at. */
  readonly places: readonly number[];
  /** For each of `places`: the lines that it may serve. */
  readonly masks: readonly number[];
  readonly domains: readonly number[];
  /** For each of `places`: 1 when the score counts it. */
  readonly scored: readonly number[];
  readonly scoredTotal: number;
}

export interface Plan {
  readonly request: PlaceRequest;
  /** How many times it is wanted: members of a gang, or nodes. */
  readonly size: number;
  /** Whether a member is a whole node. */
  readonly whole: boolean;
  /** The label that the nodes of all members share. */
  readonly topologyKey: string | undefined;
  readonly sharing: SharingMode;
  readonly policy: Policy;
  /** What one member wants, unless that is a whole node. */
  readonly demand: Demand;
  /** Units wanted in all, and of the class that the score looks at. */
  readonly wanted: number;
  readonly scoredClass: DeviceClass;
  readonly scoredWanted: number;
  readonly asks: readonly { readonly scalar: Scalar; readonly amount: number }[];
  /** What is asked of each scalar, in their order. */
  readonly amounts: readonly number[];
  /** What the score expects of others. */
  readonly mix: readonly Weighed<UnitAsk>[];
  readonly mixHasScalars: boolean;
  readonly search: Search;
  readonly units: UnitList;
  /** By the shape's number. */
  readonly fits: (ShapeFit | undefined)[];
  readonly tables: (MixTable | undefined)[];
  /** Scratch of the score: growths by free units, of nodes that are alike. */
  readonly growths: Map<string, number[]>;
  /** Classes asked for that the pool's sharing mode does not have. */
  readonly foreign: readonly DeviceClass[];
  /** The labels that lines ask for. */
  readonly labelled: readonly Readonly<Record<string, string>>[];
  /** With `unitIds`: the only nodes that have any of them. By id: a search also looks at copies of a node. */
  readonly pinned: ReadonlyMap<NodeId, ShapeFit> | null;
}

/** @param options with `showWithheld` a line may name a withheld unit: its asker may know of it */
export function planOf(
  state: PoolView,
  asked: PlaceRequest,
  options: { readonly showWithheld?: boolean | undefined } = {},
): Plan {
  const request = options.showWithheld ? asked : withoutHidden(state, asked);
  const { devices, gang } = request;
  const whole = request.binding === "node";
  const scoredClass = (devices.find((line) => line.class === "gpu") ?? devices[0])?.class ?? "gpu";
  const ofScored = devices.filter((line) => line.class === scoredClass);
  const sharing = state.config?.sharing ?? "exclusive";
  const mix = mixFor(state, scoredClass);
  const base = {
    request,
    size: gang?.size ?? (whole ? (devices[0]?.count ?? 1) : 1),
    whole,
    topologyKey: gang?.topologyKey,
    sharing,
    foreign: whole
      ? []
      : devices.map((line) => line.class).filter((c) => !CLASSES_OF[sharing].includes(c)),
    policy: state.config?.policy.placement ?? "pack",
    demand: demandOf(
      devices.map((line) => line.count),
      groupsOf(request),
    ),
    wanted: devices.reduce((sum, line) => sum + line.count, 0),
    scoredClass,
    scoredWanted: ofScored.reduce((sum, line) => sum + line.count, 0),
    asks: SCALARS.map((scalar) => ({ scalar, amount: request.resources[scalar] })).filter(
      ({ amount }) => amount > 0,
    ),
    amounts: SCALARS.map((scalar) => request.resources[scalar]),
    mix,
    mixHasScalars: mix.some(({ amounts }) => amounts.some((amount) => amount > 0)),
    search: newSearch(),
    units: new UnitList(),
    fits: [] as (ShapeFit | undefined)[],
    tables: [] as (MixTable | undefined)[],
    growths: new Map<string, number[]>(),
    labelled: devices.map((line) => line.selector?.labels).filter((l) => l !== undefined),
    pinned: null,
  };
  return { ...base, pinned: whole ? null : pinnedFits(state, base) };
}

/** What the request finds on this node, all of it empty and healthy. */
export function fitOf(plan: Plan, entry: SeenNode): ShapeFit {
  return plan.pinned?.get(entry.node.id) ?? fitOfShape(plan, entry.shape);
}

/** The same on any node of the shape; with exact units, on one that has none of them. */
export function fitOfShape(plan: Plan, shape: Shape): ShapeFit {
  const known = plan.fits[shape.number];
  if (known) return known;
  const fit = plan.whole
    ? wholeShapeFit(shape)
    : shapeFit(plan, shape, plan.pinned ? NO_UNIT : EVERY_UNIT);
  plan.fits[shape.number] = fit;
  return fit;
}

/** The mix is learnt of GPUs and slots; of all else every usual size is as likely. */
function mixFor(state: PoolView, scored: DeviceClass): readonly Weighed<UnitAsk>[] {
  if (scored === "gpu" || scored === "gpu.slot") return state.demand;
  return EVEN;
}

const EVEN = USUAL.map((ask) => ({ ...ask, weight: 1 / USUAL.length }));

/** Sets of lines whose GPUs share a domain. A single GPU needs no domain. */
function groupsOf(request: PlaceRequest): number[] {
  const gpuLines = request.devices.map((line, i) => (line.class === "gpu" ? 1 << i : 0));
  const all = gpuLines.reduce((set, bit) => set | bit, 0);
  const gpus = request.devices.reduce((sum, l) => sum + (l.class === "gpu" ? l.count : 0), 0);
  if (request.topology === "nvlink-all") return gpus > 1 ? [all] : [];
  return gpuLines.filter((bit, i) => {
    const line = request.devices[i];
    return bit !== 0 && line?.topology === "nvlink-all" && line.count > 1;
  });
}

/** Whether a line with `unitIds` may name the unit at this place. */
type Named = (line: number, place: number) => boolean;
const EVERY_UNIT: Named = () => true;
const NO_UNIT: Named = () => false;

function pinnedFits(state: PoolView, plan: Plan): Map<NodeId, ShapeFit> | null {
  if (!plan.request.devices.some((line) => line.selector?.unitIds)) return null;
  const fits = new Map<NodeId, ShapeFit>();
  const named = plan.request.devices.map((line) => {
    const found = (line.selector?.unitIds ?? []).map((id) => state.place(id));
    return line.selector?.unitIds ? found : null;
  });
  for (const { entry } of named.flat().filter((found) => found != null)) {
    if (fits.has(entry.node.id)) continue;
    const here = named.map(
      (found) =>
        found && new Set(found.filter((f) => f?.entry === entry).map((f) => f?.unit as number)),
    );
    const isNamed: Named = (line, place) => here[line]?.has(place) ?? true;
    fits.set(entry.node.id, shapeFit(plan, entry.shape, isNamed));
  }
  return fits;
}

function shapeFit(plan: Plan, shape: Shape, named: Named): ShapeFit {
  const { devices } = plan.request;
  const fit = {
    places: [] as number[],
    masks: [] as number[],
    domains: [] as number[],
    scored: [] as number[],
  };
  // With one node of exact units, lines without `unitIds` are unaffected by `named`.
  const passes = devices.map((line, i) => {
    const exact = line.selector?.unitIds !== undefined;
    return shape.units.map((u, p) => matches(u, line.selector) && (!exact || named(i, p)));
  });
  shape.units.forEach((unit, place) => {
    let mask = 0;
    devices.forEach((line, i) => {
      if (line.class === unit.class && passes[i]?.[place]) mask |= 1 << i;
    });
    // A pool that spreads looks at all of the class, one that packs at what the request could take.
    const scored = unit.class === plan.scoredClass && (mask !== 0 || plan.policy === "spread");
    if (mask === 0 && !scored) return;
    fit.places.push(place);
    fit.masks.push(mask);
    fit.domains.push(unit.domain);
    fit.scored.push(scored ? 1 : 0);
  });
  const { demand, wanted } = plan;
  const scoredTotal = fit.scored.reduce((sum, one) => sum + one, 0);
  const cause = structuralCause(plan, shape, { passes, ...fit });
  return { ...fit, demand, wanted, scoredTotal, cause };
}

/**
 * A class that the pool's mode does not have is `CLASS` whatever else is asked. Then, first cause first:
 * `SELECTOR` when a line's selector leaves no unit at all, or none of those of its class; `CLASS` when
 * there is no unit of the class; `COUNT` when too few serve the lines together; `NVLINK` when only
 * domains are in the way.
 */
function structuralCause(
  plan: Plan,
  shape: Shape,
  found: { passes: boolean[][]; masks: number[]; domains: number[]; places: number[] },
): Cause | null {
  const { devices } = plan.request;
  if (plan.foreign.length > 0) return "CLASS";
  const ofClass = devices.map((line) => shape.units.some((unit) => unit.class === line.class));
  const served = devices.map((_, i) => found.masks.some((mask) => mask & (1 << i)));
  const unselected = devices.some((line, i) => {
    if (!line.selector || served[i]) return false;
    return ofClass[i] || !(found.passes[i] ?? []).includes(true);
  });
  if (unselected) return "SELECTOR";
  if (ofClass.includes(false)) return "CLASS";
  if (!enough(plan.demand, found.masks, found.masks.length)) return "COUNT";
  plan.units.clear();
  found.places.forEach((place, i) => {
    plan.units.push(place, found.masks[i] as number, found.domains[i] as number);
  });
  return canSeat(plan.demand, plan.units, plan.search) ? null : "NVLINK";
}

/** Labels are the node's and are checked there. */
function matches(unit: ShapeUnit, selector: Selector | undefined): boolean {
  if (!selector) return true;
  if (selector.model !== undefined && unit.model !== selector.model) return false;
  if (selector.profile !== undefined && unit.profile !== selector.profile) return false;
  return selector.memoryGiB === undefined || (unit.memoryGiB ?? 0) >= selector.memoryGiB;
}
