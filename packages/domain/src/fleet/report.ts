/** A node as it is reported, and the units that follow from it. */
import type { DeriveId, NodeId } from "../ids.ts";
import { SLICES_MAX } from "../mig/table.ts";
import type { MigPlacements, NodeState, ScalarAmounts, Unit } from "../model.ts";
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
  /** MIG instances that it can take; absent: those of its model, as far as they are known. */
  readonly migProfiles?: readonly MigPlacements[] | undefined;
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

/** A unit as reported: health may be left open. */
export type ReportedUnit = Omit<Unit, "healthy"> & { readonly healthy: boolean | undefined };

const MIB_PER_GIB = 1_024;

/** What is there: its GPUs whole, whatever its pool makes of them, and its other units. */
export interface ReportedUnits {
  readonly gpus: readonly ReportedUnit[];
  readonly others: readonly ReportedUnit[];
}

const BLANK = {
  key: 0,
  model: null,
  profile: null,
  placement: null,
  gpuUuid: null,
  memoryGiB: null,
  nvlinkDomain: null,
  vfioGroup: null,
  pciAddress: null,
  parentUnitId: null,
  removed: false,
  migProfiles: null,
  healthy: undefined,
};

/**
 * One `gpu` per GPU, by index; one `nic.vf` per VF, one `disk` per disk, in that order and by index. Ids
 * hash the node, the class and the device's key: GPU uuid, `name#vf`, disk name.
 */
export function reportedUnits(nodeId: NodeId, report: NodeReport, derive: DeriveId): ReportedUnits {
  const gpus = (report.gpus ?? []).map((gpu): ReportedUnit => ({
    ...BLANK,
    id: derive("unit", "gpu", [nodeId, gpu.uuid]),
    class: "gpu",
    index: gpu.index,
    model: gpu.model,
    gpuUuid: gpu.uuid,
    memoryGiB: gibOf(gpu.memoryMiB),
    nvlinkDomain: gpu.nvlinkDomain ?? null,
    vfioGroup: gpu.vfioGroup ?? null,
    pciAddress: gpu.pciAddress ?? null,
    healthy: gpu.healthy,
    migProfiles: gpu.migProfiles ?? null,
  }));
  const vfs = (report.nics ?? [])
    .flatMap((nic) => Array.from({ length: nic.vfs }, (_, vf) => `${nic.name}#${vf}`))
    .map((key, index): ReportedUnit => ({
      ...BLANK,
      id: derive("unit", "nic.vf", [nodeId, key]),
      class: "nic.vf",
      index,
    }));
  const disks = (report.disks ?? []).map((disk, index): ReportedUnit => ({
    ...BLANK,
    id: derive("unit", "disk", [nodeId, disk.name]),
    class: "disk",
    index,
    memoryGiB: disk.sizeGiB,
  }));
  return { gpus: gpus.toSorted((a, b) => a.index - b.index), others: [...vfs, ...disks] };
}

/** Whole GiB, as makers name a GPU's memory. */
export function gibOf(mib: number | undefined): number | null {
  return mib === undefined ? null : Math.round(mib / MIB_PER_GIB);
}

export function reportedScalars(report: NodeReport): ScalarAmounts {
  const { vcpu = 0, memoryGiB = 0, hugepages1Gi = 0 } = report;
  return { vcpu, memoryGiB, hugepages1Gi };
}

/**
 * What is wrong with a set of reports taken together: a name, GPU, index, card, disk or MIG profile given
 * twice, a MIG instance beyond any GPU. Paths start at the list; messages name the node.
 */
export function reportIssues(reports: readonly NodeReport[]): InputIssue[] {
  const issues: InputIssue[] = [];
  const names = new Map<string, number>();
  const uuids = new Map<string, string>();
  for (const [at, report] of reports.entries()) {
    const wrong = (path: InputIssue["path"], what: string): void => {
      issues.push({ path: ["nodes", at, ...path], message: `node ${report.name}: ${what}` });
    };
    if (names.has(report.name)) wrong(["name"], "is named twice in this call");
    names.set(report.name, at);
    for (const [i, { uuid }] of (report.gpus ?? []).entries()) {
      const other = uuids.get(uuid);
      if (other !== undefined) wrong(["gpus", i, "uuid"], `GPU ${uuid} is also on node ${other}`);
      uuids.set(uuid, report.name);
    }
    for (const i of repeated((report.gpus ?? []).map((gpu) => gpu.index)))
      wrong(["gpus", i, "index"], "two GPUs have this index");
    for (const [i, gpu] of (report.gpus ?? []).entries())
      for (const { path, message } of tableIssues(gpu.migProfiles ?? []))
        wrong(["gpus", i, "migProfiles", ...path], message);
    for (const i of repeated((report.nics ?? []).map((nic) => nic.name)))
      wrong(["nics", i, "name"], "two cards have this name");
    for (const i of repeated((report.disks ?? []).map((disk) => disk.name)))
      wrong(["disks", i, "name"], "two disks have this name");
  }
  return issues;
}

function tableIssues(table: readonly MigPlacements[]): InputIssue[] {
  const issues = repeated(table.map(({ profile }) => profile)).map((at): InputIssue => {
    return { path: [at, "profile"], message: `profile ${table[at]?.profile} is listed twice` };
  });
  for (const [at, { profile, size, starts }] of table.entries()) {
    for (const i of repeated(starts))
      issues.push({ path: [at, "starts", i], message: `${profile} has this start twice` });
    const last = Math.max(...starts, 0);
    if (last + size > SLICES_MAX)
      issues.push({
        path: [at, "starts"],
        message: `${profile} would end at slice ${last + size}: a GPU has at most ${SLICES_MAX} memory slices`,
      });
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
