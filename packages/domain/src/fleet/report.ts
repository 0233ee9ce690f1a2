/** A node as it is reported, and the units that follow from it. */
import type { Id, IdPrefix, NodeId } from "../ids.ts";
import type { NodeState, ScalarAmounts, Unit } from "../model.ts";
import type { InputIssue } from "../refusal.ts";

export interface GpuReport {
  readonly uuid: string;
  readonly index: number;
  readonly model: string;
  readonly memoryMiB?: number | undefined;
  readonly nvlinkDomain?: string | undefined;
  readonly vfioGroup?: string | undefined;
  readonly pciAddress?: string | undefined;
  /** Absent: as it was, sound for a new one. */
  readonly healthy?: boolean | undefined;
}

/** The whole of a node: what is absent is not there, but for `state` and health, which stay as they were. */
export interface NodeReport {
  readonly name: string;
  readonly address?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly vcpu?: number | undefined;
  readonly memoryGiB?: number | undefined;
  readonly hugepages1Gi?: number | undefined;
  readonly gpus?: readonly GpuReport[] | undefined;
  readonly nics?: readonly { readonly name: string; readonly vfs: number }[] | undefined;
  readonly disks?: readonly { readonly name: string; readonly sizeGiB: number }[] | undefined;
  readonly tenantOwned?: boolean | undefined;
  readonly state?: NodeState | undefined;
}

/** Hashes a tag and parts to an id: the same parts are the same thing for ever. Given by the caller. */
export type DeriveId = <P extends IdPrefix>(
  prefix: P,
  tag: string,
  parts: readonly (string | number)[],
) => Id<P>;

/** A unit as reported: health may be left open. */
export type ReportedUnit = Omit<Unit, "healthy"> & { readonly healthy: boolean | undefined };

const MIB_PER_GIB = 1_024;

/**
 * The units of the node in an exclusive pool or in none: one `gpu` per GPU, one `nic.vf` per VF, one
 * `disk` per disk, in that order and by index. Ids hash the node, the class and the device's key: GPU
 * uuid, `name#vf`, disk name. A GPU's memory is rounded to whole GiB, as its makers name it.
 */
export function reportedUnits(
  nodeId: NodeId,
  report: NodeReport,
  derive: DeriveId,
): ReportedUnit[] {
  const blank = { key: 0, profile: null, placement: null, parentUnitId: null, removed: false };
  const none = {
    model: null,
    gpuUuid: null,
    memoryGiB: null,
    nvlinkDomain: null,
    vfioGroup: null,
    pciAddress: null,
  };
  const gpus = (report.gpus ?? []).map((gpu): ReportedUnit => ({
    ...blank,
    id: derive("unit", "gpu", [nodeId, gpu.uuid]),
    class: "gpu",
    index: gpu.index,
    model: gpu.model,
    gpuUuid: gpu.uuid,
    memoryGiB: gpu.memoryMiB === undefined ? null : Math.round(gpu.memoryMiB / MIB_PER_GIB),
    nvlinkDomain: gpu.nvlinkDomain ?? null,
    vfioGroup: gpu.vfioGroup ?? null,
    pciAddress: gpu.pciAddress ?? null,
    healthy: gpu.healthy,
  }));
  const vfs = (report.nics ?? [])
    .flatMap((nic) => Array.from({ length: nic.vfs }, (_, vf) => `${nic.name}#${vf}`))
    .map((key, index): ReportedUnit => ({
      ...blank,
      ...none,
      id: derive("unit", "nic.vf", [nodeId, key]),
      class: "nic.vf",
      index,
      healthy: undefined,
    }));
  const disks = (report.disks ?? []).map((disk, index): ReportedUnit => ({
    ...blank,
    ...none,
    id: derive("unit", "disk", [nodeId, disk.name]),
    class: "disk",
    index,
    memoryGiB: disk.sizeGiB,
    healthy: undefined,
  }));
  return [...gpus.toSorted((a, b) => a.index - b.index), ...vfs, ...disks];
}

export function reportedScalars(report: NodeReport): ScalarAmounts {
  const { vcpu = 0, memoryGiB = 0, hugepages1Gi = 0 } = report;
  return { vcpu, memoryGiB, hugepages1Gi };
}

/**
 * What is wrong with a set of reports taken together: a name, GPU, index, card or disk given twice. Paths
 * start at the list; messages name the node.
 */
export function reportIssues(reports: readonly NodeReport[]): InputIssue[] {
  const issues: InputIssue[] = [];
  const names = new Map<string, number>();
  const uuids = new Map<string, string>();
  for (const [at, report] of reports.entries()) {
    const twice = (path: InputIssue["path"], what: string): void => {
      issues.push({ path: ["nodes", at, ...path], message: `node ${report.name}: ${what}` });
    };
    if (names.has(report.name)) twice(["name"], "is named twice in this call");
    names.set(report.name, at);
    for (const [i, { uuid }] of (report.gpus ?? []).entries()) {
      const other = uuids.get(uuid);
      if (other !== undefined) twice(["gpus", i, "uuid"], `GPU ${uuid} is also on node ${other}`);
      uuids.set(uuid, report.name);
    }
    for (const i of repeated((report.gpus ?? []).map((gpu) => gpu.index)))
      twice(["gpus", i, "index"], "two GPUs have this index");
    for (const i of repeated((report.nics ?? []).map((nic) => nic.name)))
      twice(["nics", i, "name"], "two cards have this name");
    for (const i of repeated((report.disks ?? []).map((disk) => disk.name)))
      twice(["disks", i, "name"], "two disks have this name");
  }
  return issues;
}

/** Places of values that came before. */
function repeated(values: readonly (string | number)[]): number[] {
  const seen = new Set<string | number>();
  return values.flatMap((value, at) => {
    if (seen.has(value)) return [at];
    seen.add(value);
    return [];
  });
}
