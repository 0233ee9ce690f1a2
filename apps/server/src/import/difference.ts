/** What an import would change, from what the API shows of the nodes that are there. */
import type { NodeSchedule } from "@berth/client";
import type { NodeInput } from "./document.ts";

export type KnownNode = NodeSchedule;
export type Outcome = "created" | "changed" | "unchanged";

export interface Difference {
  readonly name: string;
  readonly outcome: Outcome;
  /** The fields that differ. */
  readonly fields: readonly string[];
}

/** What a node is reported with and the API shows nowhere, so that no comparison can see it change. */
export const NOT_SHOWN = [
  "vcpu",
  "memoryGiB",
  "hugepages1Gi",
  "gpus[].pciAddress",
  "gpus[].migProfiles",
  "nics[].name",
  "disks[].name",
] as const;

/** @param poolId joins nodes that are in no pool */
export function difference(
  node: NodeInput,
  known: KnownNode | undefined,
  poolId?: string,
): Difference {
  if (!known) return { name: node.name, outcome: "created", fields: [] };
  const fields = changedFields(node, known);
  if (poolId !== undefined && known.poolId === null) fields.push("pool");
  return { name: node.name, outcome: fields.length > 0 ? "changed" : "unchanged", fields };
}

function changedFields(node: NodeInput, known: KnownNode): string[] {
  const pairs: [field: string, now: unknown, then: unknown][] = [
    ["address", known.address, node.address ?? null],
    ["labels", inOrder(known.labels), inOrder(node.labels ?? {})],
    ["state", known.state, node.state ?? known.state],
    ["tenantOwned", known.tenantOwned, node.tenantOwned ?? false],
    ["gpus", knownGpus(known), askedGpus(node, known)],
    ["nics", countOf(known, "nic.vf"), (node.nics ?? []).reduce((sum, nic) => sum + nic.vfs, 0)],
    ["disks", sizesOf(known), (node.disks ?? []).map((disk) => disk.sizeGiB).toSorted(ascending)],
  ];
  return pairs.filter(([, now, then]) => !same(now, then)).map(([field]) => field);
}

/** A pool that cuts GPUs shows the pieces, which tell the GPU behind them by its UUID and model alone. */
function isCut(known: KnownNode): boolean {
  return known.units.some((unit) => unit.class === "gpu.mig" || unit.class === "gpu.slot");
}

function knownGpus(known: KnownNode): unknown {
  if (isCut(known)) {
    const pieces = known.units.filter((unit) => unit.parentUnitId !== null);
    return [...new Map(pieces.map((unit) => [unit.gpuUuid, unit.model]))].toSorted(byUuid);
  }
  return known.units
    .filter((unit) => unit.class === "gpu")
    .map((unit) => [
      unit.gpuUuid,
      unit.index,
      unit.model,
      unit.memoryGiB,
      unit.nvlinkDomain,
      unit.vfioGroup,
      unit.healthy,
    ])
    .toSorted(byIndex);
}

function askedGpus(node: NodeInput, known: KnownNode): unknown {
  const gpus = node.gpus ?? [];
  if (isCut(known)) return gpus.map((gpu) => [gpu.uuid, gpu.model]).toSorted(byUuid);
  const healthy = new Map(known.units.map((unit) => [unit.gpuUuid, unit.healthy]));
  return gpus
    .map((gpu) => [
      gpu.uuid,
      gpu.index,
      gpu.model,
      // As the server keeps it: whole GiB.
      gpu.memoryMiB === undefined ? null : Math.round(gpu.memoryMiB / 1_024),
      gpu.nvlinkDomain ?? null,
      gpu.vfioGroup ?? null,
      gpu.healthy ?? healthy.get(gpu.uuid) ?? true,
    ])
    .toSorted(byIndex);
}

const byUuid = (a: readonly unknown[], b: readonly unknown[]) =>
  String(a[0]) < String(b[0]) ? -1 : 1;
const byIndex = (a: readonly unknown[], b: readonly unknown[]) => Number(a[1]) - Number(b[1]);
const ascending = (a: number, b: number) => a - b;

const countOf = (known: KnownNode, name: string) =>
  known.units.filter((unit) => unit.class === name).length;

const sizesOf = (known: KnownNode) =>
  known.units
    .filter((unit) => unit.class === "disk")
    .map((unit) => unit.memoryGiB ?? 0)
    .toSorted(ascending);

const inOrder = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
