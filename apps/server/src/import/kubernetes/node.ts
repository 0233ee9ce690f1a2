/**
 * A Kubernetes node: what the NVIDIA device plugin advertises of it and GPU feature discovery (GFD) says of it.
 *
 * Sources: k8s.io/api `core/v1/types.go` (NodeStatus: capacity, allocatable, conditions, addresses);
 * NVIDIA/k8s-device-plugin `docs/gpu-feature-discovery/README.md` and `internal/lm/{resource,mig-strategy,fabric}.go`
 * (labels `nvidia.com/gpu.product|memory|count|replicas|clique`, `nvidia.com/mig.strategy`, `nvidia.com/mig-<profile>.*`;
 * `gpu.count` counts the GPUs of the model, those in MIG mode included, and with strategy `single` the MIG instances).
 */
import { LIMITS } from "@berth/contract";
import { z } from "zod";
import { type Found, type RecordRef, badRecord, readShape } from "../document.ts";
import {
  type GpuDraft,
  type NodeDraft,
  type NodeState,
  UNKNOWN_MODEL,
  derivedUuid,
  fitLabels,
  leftLabelsNote,
  looseInstancesNote,
  migCountLabel,
} from "../draft.ts";
import type { KubernetesObject } from "./objects.ts";
import { parseQuantity } from "./quantity.ts";
import type { SliceNode } from "./slices.ts";

const quantities = z.record(z.string(), z.union([z.string(), z.number()])).nullish();
const nodeShape = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).nullish(),
  }),
  spec: z.object({ unschedulable: z.boolean().nullish() }).nullish(),
  status: z
    .object({
      capacity: quantities,
      allocatable: quantities,
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
      addresses: z.array(z.object({ type: z.string(), address: z.string() })).nullish(),
    })
    .nullish(),
});
type KubernetesNode = z.output<typeof nodeShape>;
type Quantities = Readonly<Record<string, string | number>>;

const WHOLE_GPUS = ["nvidia.com/gpu", "nvidia.com/gpu.shared"] as const;
const GIB = 1_073_741_824;

/** `slices`: what DRA says of the node's GPUs, which wins over what the device plugin counts. */
export function readNode({ value, ref }: KubernetesObject, slices: SliceNode | undefined): Found {
  const node = readShape(nodeShape, value, ref);
  const { name } = node.metadata;
  const labels = node.metadata.labels ?? {};
  const capacity = node.status?.capacity ?? {};
  const plugin = slices ? { gpus: slices.gpus, notes: [] } : pluginGpus(node, ref);
  const fitted = fitLabels(
    [
      ...Object.entries(migCounts(slices)),
      ...Object.entries(labels).filter(([key]) => !VOLATILE.has(key)),
    ],
    labelRank,
  );
  const address = addressOf(node);
  const draft: NodeDraft = {
    name,
    ...(address === undefined ? {} : { address }),
    labels: fitted.labels,
    vcpu: Math.floor(amountOf(capacity, "cpu", ref)),
    memoryGiB: Math.floor(amountOf(capacity, "memory", ref) / GIB),
    hugepages1Gi: Math.floor(amountOf(capacity, "hugepages-1Gi", ref) / GIB),
    gpus: inClique(plugin.gpus, labels["nvidia.com/gpu.clique"]),
    state: stateOf(node),
  };
  return { ref, node: draft, notes: [...plugin.notes, ...leftLabelsNote(name, fitted.left)] };
}

/** Changes at every run of GFD, without the node having changed. */
const VOLATILE = new Set(["nvidia.com/gfd.timestamp"]);

/** Features of the CPU and kernel are many and the first to go. */
const labelRank = (key: string) => (key.startsWith("feature.node.kubernetes.io/") ? 1 : 0);

function migCounts(slices: SliceNode | undefined): Record<string, string> {
  const counts = slices?.migCounts ?? new Map<string, number>();
  return Object.fromEntries(
    [...counts].map(([profile, count]) => [migCountLabel(profile), String(count)]),
  );
}

function amountOf(amounts: Quantities, key: string, ref: RecordRef): number {
  const text = amounts[key];
  if (text === undefined) return 0;
  const amount = parseQuantity(text);
  if (amount !== null) return amount;
  const shown = String(text).slice(0, 64);
  throw badRecord(ref, `status.capacity.${key}`, `"${shown}" is not a quantity`);
}

/** The worst of what is said; a node that says nothing of being ready is not yet one. */
function stateOf({ spec, status }: KubernetesNode): NodeState {
  const ready = (status?.conditions ?? []).find(({ type }) => type === "Ready")?.status;
  if (ready === undefined) return "provisioning";
  // What the control plane writes when it no longer hears from the kubelet.
  if (ready === "Unknown") return "unreachable";
  if (ready !== "True") return "unhealthy";
  return spec?.unschedulable === true ? "maintenance" : "ready";
}

function addressOf({ status }: KubernetesNode): string | undefined {
  const addresses = status?.addresses ?? [];
  for (const wanted of ["InternalIP", "ExternalIP", "Hostname"]) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found) return found.address;
  }
  return undefined;
}

/** GPUs of several nodes with one clique are one NVLink domain. */
function inClique(gpus: readonly GpuDraft[], clique: string | undefined): readonly GpuDraft[] {
  if (clique === undefined || clique === "") return gpus;
  return gpus.map((gpu) => ({ ...gpu, nvlinkDomain: clique }));
}

interface PluginGpus {
  readonly gpus: readonly GpuDraft[];
  readonly notes: readonly string[];
}

/** The device plugin counts GPUs and GFD names their model; neither knows one from the other. */
function pluginGpus(node: KubernetesNode, ref: RecordRef): PluginGpus {
  const { name } = node.metadata;
  const labels = node.metadata.labels ?? {};
  const product = labels["nvidia.com/gpu.product"];
  const counts = countGpus(node, ref);
  // Strategy "single": product, count and memory are those of the MIG instances.
  if (product !== undefined && /-MIG-/.test(product))
    return { gpus: [], notes: [looseInstancesNote(name, "it counts MIG instances")] };
  const { physical, down } = counts;
  const notes =
    physical === 0 && hasMigResources(node, ref)
      ? [looseInstancesNote(name, "it advertises MIG instances")]
      : [];
  if (physical > 0 && product === undefined)
    notes.push(
      `${name}: has no label nvidia.com/gpu.product, so its GPUs have the model ${UNKNOWN_MODEL}`,
    );
  const memory = wholeLabel(labels, "nvidia.com/gpu.memory", ref);
  const gpus = Array.from({ length: physical }, (_, index): GpuDraft => ({
    uuid: derivedUuid(name, index),
    index,
    model: product?.replace(/-SHARED$/, "") ?? UNKNOWN_MODEL,
    ...(memory === undefined || memory === 0 ? {} : { memoryMiB: memory }),
    // Which of them the kubelet holds back is not said; they are alike, and the number is what counts.
    ...(index >= physical - down ? { healthy: false } : {}),
  }));
  return { gpus, notes };
}

function countGpus(node: KubernetesNode, ref: RecordRef): { physical: number; down: number } {
  const labels = node.metadata.labels ?? {};
  const sum = (amounts: Quantities) =>
    WHOLE_GPUS.reduce((total, key) => total + amountOf(amounts, key, ref), 0);
  const replicas = Math.max(1, wholeLabel(labels, "nvidia.com/gpu.replicas", ref) ?? 1);
  const capacity = sum(node.status?.capacity ?? {});
  const advertised = capacity / replicas;
  const field = "status.capacity.nvidia.com/gpu";
  if (!Number.isInteger(advertised))
    throw badRecord(
      ref,
      field,
      `${capacity} is not a multiple of the ${replicas} replicas of a GPU`,
    );
  const said = wholeLabel(labels, "nvidia.com/gpu.count", ref);
  if (said !== undefined && said > 0 && advertised > said)
    throw badRecord(
      ref,
      field,
      `counts ${advertised} GPUs, and the label nvidia.com/gpu.count ${said} of one model: ` +
        "only ResourceSlices or nvidia-smi -q -x tell a node of several models",
    );
  const physical = Math.max(advertised, said ?? 0);
  if (physical > LIMITS.gpusPerNode)
    throw badRecord(ref, field, `counts ${physical} GPUs, at most ${LIMITS.gpusPerNode}`);
  const allocatable = node.status?.allocatable ? sum(node.status.allocatable) : capacity;
  const down = Math.min(advertised, Math.max(0, Math.ceil((capacity - allocatable) / replicas)));
  return { physical, down };
}

function hasMigResources(node: KubernetesNode, ref: RecordRef): boolean {
  const capacity = node.status?.capacity ?? {};
  return Object.keys(capacity).some(
    (key) => key.startsWith("nvidia.com/mig-") && amountOf(capacity, key, ref) > 0,
  );
}

function wholeLabel(
  labels: Readonly<Record<string, string>>,
  key: string,
  ref: RecordRef,
): number | undefined {
  const text = labels[key];
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw badRecord(
    ref,
    `metadata.labels.${key}`,
    `must be a whole number, not "${text.slice(0, 64)}"`,
  );
}
