/**
 * A node as any of Slurm's outputs tells it, and what it becomes. Slurm knows no UUIDs: its GPUs have derived
 * keys, numbered by their device file where gres.conf names one.
 */
import { LIMITS } from "@berth/contract";
import { type Found, type RecordRef, badRecord } from "../document.ts";
import {
  type GpuDraft,
  type NodeDraft,
  type NodeState,
  UNKNOWN_MODEL,
  derivedUuid,
  fitLabels,
  leftLabelsNote,
  linkedGroups,
  looseInstancesNote,
  migCountLabel,
} from "../draft.ts";
import type { GresConf } from "./gres-conf.ts";
import { type Gres, migProfileOf } from "./gres.ts";

export interface SlurmNode {
  readonly ref: RecordRef & { readonly name: string };
  readonly address?: string | undefined;
  /** Logical CPUs. */
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly gres: readonly Gres[];
  readonly features: readonly string[];
  readonly partitions: readonly string[];
  /** Absent when the source does not say. */
  readonly state?: NodeState | undefined;
}

export function toFound(node: SlurmNode, conf: GresConf | null): Found {
  const { ref, address, state } = node;
  const fitted = fitLabels(labelsOf(node));
  const draft: NodeDraft = {
    name: ref.name,
    ...(address === undefined ? {} : { address }),
    labels: fitted.labels,
    vcpu: node.cpus,
    memoryGiB: Math.floor(node.memoryMiB / 1_024),
    gpus: gpusOf(node, conf),
    ...(state === undefined ? {} : { state }),
  };
  const instances = node.gres
    .map(({ type, count }) => ({ profile: migProfileOf(type), count }))
    .filter(({ profile }) => profile !== null);
  const cut = instances.map(({ profile, count }) => `${count} × ${profile}`).join(", ");
  return {
    ref,
    node: draft,
    notes: [
      ...(cut === "" ? [] : [looseInstancesNote(ref.name, `Slurm counts MIG instances (${cut})`)]),
      ...leftLabelsNote(ref.name, fitted.left),
    ],
  };
}

/** Features are labels of their own name, `rack=r1` one with a value; the rest stands under Slurm's prefix. */
function labelsOf({ features, partitions, gres }: SlurmNode): Map<string, string> {
  const labels = new Map<string, string>();
  for (const feature of features) {
    const [key = "", ...value] = feature.split("=");
    labels.set(key, value.length > 0 ? value.join("=") : "true");
  }
  for (const partition of partitions) labels.set(`slurm.partition/${partition}`, "true");
  for (const { name, type, count } of gres) {
    const profile = name === "gpu" ? migProfileOf(type) : null;
    const key =
      profile === null
        ? `slurm.gres/${[name, type ?? []].flat().join(":")}`
        : migCountLabel(profile);
    if (name !== "gpu" || profile !== null)
      labels.set(key, String(count + Number(labels.get(key) ?? 0)));
  }
  return labels;
}

function gpusOf({ ref, gres }: SlurmNode, conf: GresConf | null): readonly GpuDraft[] {
  const whole = gres.filter(({ name, type }) => name === "gpu" && migProfileOf(type) === null);
  const total = whole.reduce((sum, { count }) => sum + count, 0);
  if (total > LIMITS.gpusPerNode)
    throw badRecord(ref, "Gres", `has ${total} GPUs, at most ${LIMITS.gpusPerNode}`);
  const gpus: GpuDraft[] = [];
  for (const { type, count } of whole) {
    const numbers = conf?.numbersOf(ref, { type, count }) ?? null;
    for (let nth = 0; nth < count; nth += 1) {
      const index = numbers?.[nth] ?? gpus.length;
      gpus.push({ uuid: derivedUuid(ref.name, index), index, model: type ?? UNKNOWN_MODEL });
    }
  }
  return conf ? linked(gpus, conf.linksOf(ref.name)) : gpus;
}

/** `links` are pairs of device numbers. */
function linked(
  gpus: readonly GpuDraft[],
  links: readonly (readonly [number, number])[],
): readonly GpuDraft[] {
  const places = new Map(gpus.map(({ index }, at) => [index, at]));
  const pairs = links.flatMap(([a, b]): [number, number][] => {
    const [one, other] = [places.get(a), places.get(b)];
    return one === undefined || other === undefined ? [] : [[one, other]];
  });
  const domains = linkedGroups(
    gpus.map(({ uuid }) => uuid),
    pairs,
  );
  return gpus.map((gpu, at) => {
    const nvlinkDomain = domains.get(at);
    return nvlinkDomain === undefined ? gpu : { ...gpu, nvlinkDomain };
  });
}
