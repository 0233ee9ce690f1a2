/** What the formats of other tools share: nodes as they are put together, keys of GPUs without a UUID, labels. */
import { createHash } from "node:crypto";
import { LIMITS } from "@berth/contract";
import type { NodeInput } from "./document.ts";

export type NodeState = NonNullable<NodeInput["state"]>;

export interface GpuDraft {
  readonly uuid: string;
  readonly index: number;
  readonly model: string;
  readonly memoryMiB?: number;
  readonly nvlinkDomain?: string;
  readonly pciAddress?: string;
  /** Never true: a tool that sees no fault does not undo what an operator has said of a GPU. */
  readonly healthy?: false;
  readonly migProfiles?: readonly MigProfileDraft[];
}

export interface MigProfileDraft {
  readonly profile: string;
  readonly size: number;
  readonly starts: readonly number[];
}

export interface NodeDraft {
  readonly name: string;
  readonly address?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly vcpu?: number;
  readonly memoryGiB?: number;
  readonly hugepages1Gi?: number;
  readonly gpus?: readonly GpuDraft[];
  readonly state?: NodeState;
}

/** The model of a GPU whose tool counts it without saying what it is. */
export const UNKNOWN_MODEL = "unknown";

const KEY_NAME_MAX = 96;

/**
 * The key of a GPU whose tool knows no UUIDs: the node's name and the GPU's number on it, so that the same
 * inventory makes the same units each time. A name that leaves no room for the number goes in as its hash.
 */
export function derivedUuid(node: string, index: number): string {
  const stem =
    node.length <= KEY_NAME_MAX
      ? node
      : createHash("sha256").update(node).digest("hex").slice(0, 32);
  return `${stem}-gpu-${index}`;
}

/** Groups of at least two that reach each other over the links, each under its lowest member's key. */
export function linkedGroups(
  members: readonly string[],
  links: Iterable<readonly [a: number, b: number]>,
): Map<number, string> {
  const parents = members.map((_, at) => at);
  const rootOf = (at: number): number => {
    let root = at;
    while (parents[root] !== root && parents[root] !== undefined) root = parents[root] ?? root;
    return root;
  };
  for (const [a, b] of links) {
    if (a >= members.length || b >= members.length) continue;
    const [low, high] = [rootOf(a), rootOf(b)].toSorted((x, y) => x - y) as [number, number];
    parents[high] = low;
  }
  const roots = members.map((_, at) => rootOf(at));
  const domains = new Map<number, string>();
  for (const [at, root] of roots.entries()) {
    const alone = roots.filter((each) => each === root).length < 2;
    if (!alone) domains.set(at, `nvlink:${members[root]}`);
  }
  return domains;
}

export interface FittedLabels {
  readonly labels: Readonly<Record<string, string>>;
  /** Keys that a node has no room for. */
  readonly left: readonly string[];
}

/** As many labels as a node may carry, in order of `rank`, then by key; keys and values that are too long go. */
export function fitLabels(
  labels: Iterable<readonly [key: string, value: string]>,
  rank: (key: string) => number = () => 0,
): FittedLabels {
  const all = [...labels].toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const fits = ([key, value]: readonly [string, string]) =>
    key !== "" && key.length <= LIMITS.topologyKeyLength && value.length <= LIMITS.nameLength;
  const kept = all.filter(fits).slice(0, LIMITS.nodeLabels);
  const keys = new Set(kept.map(([key]) => key));
  return {
    labels: Object.fromEntries(kept),
    left: all.map(([key]) => key).filter((key) => !keys.has(key)),
  };
}

export function leftLabelsNote(node: string, left: readonly string[]): string[] {
  if (left.length === 0) return [];
  const some = left.slice(0, 3).join(", ");
  return [
    `${node}: ${left.length} labels left out, a node carries ${LIMITS.nodeLabels} with keys of at most ` +
      `${LIMITS.topologyKeyLength} characters (${some}${left.length > 3 ? ", …" : ""})`,
  ];
}

/** As the kernel names it: `0000:3b:00.0`. */
export function pciAddress(text: string): string {
  return text.toLowerCase().replace(/^0+([0-9a-f]{4,}:)/, "$1");
}

export function migCountLabel(profile: string): string {
  return `nvidia.com/mig-${profile}.count`;
}

/** MIG instances without the GPU that they are cut from cannot be booked; what to do about it. */
export function looseInstancesNote(node: string, what: string): string {
  return (
    `${node}: ${what} without naming the GPUs that they are cut from, so those GPUs are not imported: ` +
    "give its ResourceSlices or its nvidia-smi -q -x beside this file"
  );
}
