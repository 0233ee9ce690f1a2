/**
 * What a pool makes of a node's GPUs. In an exclusive pool, and in none, each is one unit. A mig pool cuts
 * each into the instances of its layout, a timeslice or mps pool into slots; the GPUs themselves are then
 * kept beside the units, with ids and health of their own.
 */
import type { DeriveId, NodeId, UnitId } from "../ids.ts";
import { type MigInstance, arrangeByAny } from "../mig/layout.ts";
import {
  type MigTable,
  SLICES_MAX,
  memoryOf,
  modelName,
  reportedTable,
  tablesOf,
} from "../mig/table.ts";
import { type Node, type PoolConfig, UNIT_CLASSES, type Unit } from "../model.ts";

/** Slots of a GPU when the pool's policy does not say. */
export const REPLICAS_DEFAULT = 10;
export const REPLICAS_MAX = 48;

/** The GPUs of the node, wherever they are kept; by index. */
export function gpusOf(node: Pick<Node, "gpus" | "units">): readonly Unit[] {
  return node.gpus.length > 0 ? node.gpus : node.units.filter((unit) => unit.class === "gpu");
}

/** The order of a node's units. */
export function byClassIndexId(a: Unit, b: Unit): number {
  const byClass = UNIT_CLASSES.indexOf(a.class) - UNIT_CLASSES.indexOf(b.class);
  return byClass || a.index - b.index || (a.id < b.id ? -1 : 1);
}

/** A MIG instance or a slot. */
export function isPart(unit: Unit): boolean {
  return unit.parentUnitId !== null;
}

/** The units with this id, or of the GPU with this id: whoever holds one of them is touched by its health. */
export function unitAndParts(node: Pick<Node, "units">, unitId: UnitId): UnitId[] {
  return node.units
    .filter(({ id, parentUnitId }) => id === unitId || parentUnitId === unitId)
    .map(({ id }) => id);
}

/** Whether the pool shares GPUs out in parts. */
export function isShared(config: PoolConfig | null): config is PoolConfig {
  return config !== null && config.sharing !== "exclusive";
}

/** What MIG asks of a GPU. */
export type MigGpu = Pick<Unit, "memoryGiB" | "migProfiles" | "model">;

/** Where MIG instances may begin on this GPU: as its node reported, or as far as its model is known. */
export function migTablesOf({ memoryGiB, migProfiles, model }: MigGpu): readonly MigTable[] {
  return migProfiles ? [reportedTable(migProfiles)] : tablesOf(model ?? "", memoryGiB);
}

export interface Cut {
  readonly nodeId: NodeId;
  readonly config: PoolConfig | null;
  readonly derive: DeriveId;
  /** Units that the node had, by id: their keys and health are kept. */
  readonly known: ReadonlyMap<UnitId, Unit>;
}

/**
 * The parts of a GPU in a shared pool, by index. Ids hash the node, the class and the device's key:
 * `uuid:profile@start` of an instance, `uuid:slot` of a slot. None in a mig pool without a layout for the
 * model, or with one that this GPU cannot take.
 */
export function cutGpu(gpu: Unit, { nodeId, config, derive, known }: Cut): Unit[] {
  if (!isShared(config)) return [];
  return partsOf(gpu, config).map(({ device, ...part }) => {
    const id = derive("unit", part.class, [nodeId, device]);
    const had = known.get(id);
    return {
      ...part,
      id,
      key: had?.key ?? 0,
      nvlinkDomain: null,
      vfioGroup: null,
      pciAddress: null,
      healthy: had?.healthy ?? true,
      removed: false,
      migProfiles: null,
    };
  });
}

/** How many units the pool makes of a GPU. */
export function partCount(gpu: MigGpu, config: PoolConfig | null): number {
  if (!isShared(config)) return 1;
  return config.sharing === "mig" ? instancesOf(gpu, config).length : replicasOf(config);
}

function replicasOf({ policy }: PoolConfig): number {
  return policy.sharing?.replicas ?? REPLICAS_DEFAULT;
}

/** Whether some GPU that is there is cut in another way than the pool's policy says. */
export function isOutdated(node: Node, config: PoolConfig | null): boolean {
  if (!isShared(config)) return false;
  const had = node.units.filter((unit) => isPart(unit) && !unit.removed);
  const wanted = node.gpus.flatMap((gpu) => (gpu.removed ? [] : partsOf(gpu, config)));
  return wanted.length !== had.length || wanted.some((part, i) => !isSame(part, had[i]));
}

type Part = Pick<
  Unit,
  "class" | "gpuUuid" | "index" | "memoryGiB" | "model" | "parentUnitId" | "placement" | "profile"
> & {
  /** What its id is made from. */
  readonly device: string;
};

/** Neither order nor number of a GPU's parts depends on anything but the GPU and the pool's policy. */
function partsOf(gpu: Unit, config: PoolConfig): Part[] {
  const { gpuUuid, model, memoryGiB } = gpu;
  const common = { gpuUuid, model, parentUnitId: gpu.id };
  if (config.sharing === "mig")
    return instancesOf(gpu, config).map(({ profile, start }) => ({
      ...common,
      class: "gpu.mig",
      index: gpu.index * SLICES_MAX + start,
      profile,
      placement: start,
      memoryGiB: memoryOf(profile),
      device: `${gpuUuid}:${profile}@${start}`,
    }));
  return Array.from({ length: replicasOf(config) }, (_, slot) => ({
    ...common,
    class: "gpu.slot",
    index: gpu.index * REPLICAS_MAX + slot,
    profile: null,
    placement: null,
    // Slots share all of it.
    memoryGiB,
    device: `${gpuUuid}:${slot}`,
  }));
}

function isSame(part: Part, unit: Unit | undefined): boolean {
  return (
    unit !== undefined &&
    part.class === unit.class &&
    part.parentUnitId === unit.parentUnitId &&
    part.index === unit.index &&
    part.profile === unit.profile &&
    part.placement === unit.placement &&
    part.model === unit.model &&
    part.memoryGiB === unit.memoryGiB
  );
}

/** By model and reported table, for as long as the policy is the pool's: a fleet has a handful. */
const arranged = new WeakMap<PoolConfig, Map<string, readonly MigInstance[]>>();

function instancesOf(gpu: MigGpu, config: PoolConfig): readonly MigInstance[] {
  let known = arranged.get(config);
  if (!known) arranged.set(config, (known = new Map()));
  const look = `${gpu.model}/${gpu.memoryGiB}/${gpu.migProfiles ? JSON.stringify(gpu.migProfiles) : ""}`;
  let instances = known.get(look);
  if (!instances) {
    const arrangement = arrangeByAny(migTablesOf(gpu), layoutOf(config, gpu.model ?? ""));
    instances = arrangement?.fits ? arrangement.instances : [];
    known.set(look, instances);
  }
  return instances;
}

/** The profiles that the pool's layout has for a model, whose name is matched without maker and case. */
function layoutOf(config: PoolConfig, model: string): readonly string[] {
  const name = modelName(model);
  const entry = Object.entries(config.policy.migLayout ?? {}).find(
    ([key]) => modelName(key) === name,
  );
  return entry?.[1] ?? [];
}
