/**
 * Whole nodes. One is taken with every unit and every scalar, so it is asked for as many units as it has,
 * whatever they are; a node without units has nothing that a booking could hold and is never taken.
 */
import type { DeviceLine, PlaceRequest, Selector, Unit } from "../model.ts";
import type { SeenNode } from "../state/node-entry.ts";
import type { Shape } from "../state/shape.ts";
import { demandOf } from "./matching.ts";
import type { ShapeFit } from "./plan.ts";

export function wholeShapeFit(shape: Shape): ShapeFit {
  const wanted = shape.units.length;
  return {
    cause: wanted === 0 ? "COUNT" : null,
    demand: demandOf([wanted], []),
    wanted,
    places: shape.units.map((_, place) => place),
    masks: shape.units.map(() => 1),
    domains: shape.units.map((unit) => unit.domain),
    scored: shape.units.map(() => 1),
    scoredTotal: wanted,
  };
}

/**
 * Whether the line's selector leaves the node, labels aside: `model` and `memoryGiB` are about each of its
 * GPUs, of which it has to have one. `profile` and `unitIds` are about units and leave no node.
 */
export function wholeMatches(entry: SeenNode, line: DeviceLine | undefined): boolean {
  const selector: Selector = line?.selector ?? {};
  if (selector.profile !== undefined || selector.unitIds !== undefined) return false;
  const { model, memoryGiB = 0 } = selector;
  if (model === undefined && memoryGiB === 0) return true;
  const gpus = gpusOn(entry);
  if (gpus.length === 0) return false;
  return gpus.every((gpu) => {
    if (model !== undefined && gpu.model !== model) return false;
    return (gpu.memoryGiB ?? 0) >= memoryGiB;
  });
}

/** Whether whoever leases the node wants its GPUs in one NVLink domain. */
export function wantsWholeLinked({ topology, devices }: PlaceRequest): boolean {
  return topology === "nvlink-all" || devices[0]?.topology === "nvlink-all";
}

/** Whether all GPUs of the node are in one NVLink domain; a single one needs none. */
export function wholeIsLinked(entry: SeenNode): boolean {
  const [first, ...others] = gpusOn(entry);
  if (!first || others.length === 0) return true;
  const { nvlinkDomain } = first;
  return nvlinkDomain !== null && others.every((gpu) => gpu.nvlinkDomain === nvlinkDomain);
}

function gpusOn({ node }: SeenNode): readonly Unit[] {
  return node.gpus.length > 0 ? node.gpus : node.units.filter((unit) => unit.class === "gpu");
}

/**
 * Whether a GPU of the node is cut into no unit at all: a lease would neither hold it nor be charged for it,
 * and a layout that comes later would give it to others.
 */
export function hasUncutGpu({ node }: SeenNode): boolean {
  if (node.gpus.length === 0) return false;
  const cut = new Set(node.units.map(({ parentUnitId }) => parentUnitId));
  return node.gpus.some(({ id }) => !cut.has(id));
}

/** A GPU that units are parts of has a health of its own. */
export function hasFaultyGpu(entry: SeenNode): boolean {
  return entry.node.gpus.some((gpu) => !gpu.healthy || gpu.removed);
}

/** The GPUs that a lease of the node takes, as quota counts them: its own, or those that its units are parts of. */
export function gpusTaken(entry: SeenNode): number {
  const parts = new Set<string>();
  for (const unit of entry.node.units) {
    if (unit.class === "gpu") parts.add(unit.id);
    else if (unit.parentUnitId !== null) parts.add(unit.parentUnitId);
  }
  return parts.size;
}

/** In [0, 1]: the fewer GPUs, the better, so that large nodes stay whole; none at all is the last choice. */
export function wholeScore(entry: SeenNode): number {
  const gpus = gpusTaken(entry);
  return gpus === 0 ? 0 : 1 / gpus;
}
