/**
 * What NVIDIA's DRA driver publishes of a node's GPUs, with their UUIDs.
 *
 * Sources: k8s.io/api `resource/{v1,v1beta2,v1beta1}/types.go` (ResourceSlice: pool generations; in v1beta1 what
 * a device has stands under `basic`); kubernetes-sigs/dra-driver-nvidia-gpu `cmd/gpu-kubelet-plugin/deviceinfo.go`
 * (attributes type, uuid, productName, parentUUID, profile; capacity memory in bytes), `mig.go` and `partitions.go`
 * (names `gpu-<minor>` and `gpu-<minor>-mig-<profile>-<id>-<start>`, counters `memory-slice-<n>` of a MIG
 * placement), `site/content/docs/guides/gpu-health-checking.md` (device taints); NVIDIA/k8s-dra-driver-gpu,
 * the same at an earlier time (integer attributes index and minor, pcieBusID).
 */
import { z } from "zod";
import { ImportError, type RecordRef, badRecord, readShape } from "../document.ts";
import { type GpuDraft, type MigProfileDraft, UNKNOWN_MODEL, pciAddress } from "../draft.ts";
import type { KubernetesObject } from "./objects.ts";
import { parseQuantity } from "./quantity.ts";

export const DRIVER = "gpu.nvidia.com";
const VERSIONS = ["resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"];

const parts = {
  attributes: z
    .record(
      z.string(),
      z.object({ string: z.string().nullish(), int: z.number().nullish() }).nullable(),
    )
    .nullish(),
  capacity: z.record(z.string(), z.object({ value: z.union([z.string(), z.number()]) })).nullish(),
  taints: z.array(z.object({ effect: z.string().nullish() })).nullish(),
  consumesCounters: z
    .array(z.object({ counters: z.record(z.string(), z.unknown()).nullish() }))
    .nullish(),
  nodeName: z.string().nullish(),
};
const sliceShape = z.object({
  spec: z.object({
    driver: z.string(),
    nodeName: z.string().nullish(),
    pool: z.object({
      name: z.string(),
      generation: z.number().nullish(),
      resourceSliceCount: z.number().nullish(),
    }),
    devices: z
      .array(z.object({ name: z.string(), basic: z.object(parts).nullish(), ...parts }))
      .nullish(),
  }),
});
type Slice = z.output<typeof sliceShape>["spec"] & { readonly ref: RecordRef };
type Device = NonNullable<Slice["devices"]>[number];

/** What the slices say of one node. */
export interface SliceNode {
  readonly ref: RecordRef;
  readonly gpus: readonly GpuDraft[];
  /** MIG instances that exist, by profile. */
  readonly migCounts: ReadonlyMap<string, number>;
}

export interface SliceFindings {
  readonly byNode: ReadonlyMap<string, SliceNode>;
  readonly notes: readonly string[];
}

/** @throws ImportError for a slice that is not well formed, and for a pool of which slices are missing */
export function readSlices(objects: readonly KubernetesObject[]): SliceFindings {
  const slices = objects.map((object) => readSlice(object));
  const ours = slices.filter(({ driver }) => driver === DRIVER);
  const notes: string[] = [];
  const others = new Set(slices.map(({ driver }) => driver).filter((driver) => driver !== DRIVER));
  if (others.size > 0)
    notes.push(`ResourceSlices of other drivers left out: ${[...others].slice(0, 5).join(", ")}`);
  const drafts = new Map<string, NodeDevices>();
  for (const slice of newest(ours)) {
    for (const [at, device] of (slice.devices ?? []).entries()) {
      const node = slice.nodeName ?? device.nodeName ?? "";
      if (node === "")
        throw badRecord(slice.ref, "spec.nodeName", "is missing: whose GPUs are these?");
      const devices = drafts.get(node) ?? new NodeDevices(slice.ref);
      drafts.set(node, devices);
      devices.add(device, { ref: slice.ref, field: `spec.devices[${at}]` });
    }
  }
  return { byNode: new Map([...drafts].map(([name, node]) => [name, node.finish()])), notes };
}

function readSlice({ value, ref, apiVersion }: KubernetesObject): Slice {
  if (!VERSIONS.includes(apiVersion)) {
    const shown = apiVersion === "" ? "is missing" : `${apiVersion.slice(0, 64)} is not read`;
    throw badRecord(ref, "apiVersion", `${shown}: export one of ${VERSIONS.join(", ")}`);
  }
  return { ...readShape(sliceShape, value, ref).spec, ref };
}

/** Of a pool only the newest generation counts, and all of its slices make up its devices. */
function newest(slices: readonly Slice[]): Slice[] {
  const pools = new Map<string, Slice[]>();
  for (const slice of slices) {
    const pool = pools.get(slice.pool.name) ?? [];
    const [first] = pool;
    const newer = (slice.pool.generation ?? 0) - (first?.pool.generation ?? 0);
    if (first && newer < 0) continue;
    pools.set(slice.pool.name, first && newer === 0 ? [...pool, slice] : [slice]);
  }
  return [...pools.values()].flatMap((pool) => {
    const [first] = pool;
    const count = first?.pool.resourceSliceCount ?? pool.length;
    if (first && pool.length < count)
      throw badRecord(
        first.ref,
        "spec.pool.resourceSliceCount",
        `the file has ${pool.length} of the ${count} slices of pool ${first.pool.name}: export all`,
      );
    return pool;
  });
}

interface Place {
  readonly ref: RecordRef;
  readonly field: string;
}

interface GpuParts {
  uuid: string;
  index?: number;
  model?: string;
  memoryMiB?: number;
  pciAddress?: string;
  healthy?: false;
  readonly profiles: Map<string, { size: number; starts: Set<number> }>;
}

/** The devices of one node, brought together by the UUID of the GPU that they are or are cut from. */
class NodeDevices {
  readonly #ref: RecordRef;
  readonly #gpus = new Map<string, GpuParts>();
  readonly #migCounts = new Map<string, number>();

  constructor(ref: RecordRef) {
    this.#ref = ref;
  }

  add(device: Device, place: Place): void {
    const { attributes, capacity, taints, consumesCounters } = device.basic ?? device;
    const text = (key: string) => attributes?.[key]?.string ?? undefined;
    const type = text("type") ?? "gpu";
    if (!["gpu", "mig", "vfio"].includes(type)) return;
    const key = type === "mig" ? "parentUUID" : "uuid";
    const uuid = text(key);
    if (uuid === undefined || uuid === "")
      throw badRecord(place.ref, `${place.field}.attributes.${key}`, "is missing");
    const gpu: GpuParts = this.#gpus.get(uuid) ?? { uuid, profiles: new Map() };
    this.#gpus.set(uuid, gpu);
    const index = attributes?.["minor"]?.int ?? minorOf(device.name) ?? attributes?.["index"]?.int;
    if (index !== undefined && index !== null) gpu.index ??= index;
    gpu.model ??= text("productName") ?? UNKNOWN_MODEL;
    const pci = PCI_KEYS.map(text).find((each) => each !== undefined);
    if (pci !== undefined) gpu.pciAddress ??= pciAddress(pci);
    if ((taints ?? []).some(({ effect }) => effect === "NoSchedule" || effect === "NoExecute"))
      gpu.healthy = false;
    if (type === "gpu" && capacity?.["memory"])
      gpu.memoryMiB = mebibytes(capacity["memory"].value, place);
    if (type === "mig") {
      const profile = text("profile");
      if (profile === undefined)
        throw badRecord(place.ref, `${place.field}.attributes.profile`, "is missing");
      if (text("uuid") !== undefined)
        this.#migCounts.set(profile, (this.#migCounts.get(profile) ?? 0) + 1);
      for (const use of consumesCounters ?? [])
        addPlacement(gpu, profile, Object.keys(use.counters ?? {}));
    }
  }

  finish(): SliceNode {
    const gpus = [...this.#gpus.values()].map(({ profiles, index, model, ...gpu }): GpuDraft => {
      if (index === undefined)
        throw badRecord(
          this.#ref,
          "spec.devices",
          `GPU ${gpu.uuid} has no minor, index or gpu-N name`,
        );
      const migProfiles = [...profiles].map(([profile, { size, starts }]): MigProfileDraft => ({
        profile,
        size,
        starts: [...starts].toSorted((a, b) => a - b),
      }));
      return {
        ...gpu,
        index,
        model: model ?? UNKNOWN_MODEL,
        ...(migProfiles.length > 0 ? { migProfiles } : {}),
      };
    });
    return { ref: this.#ref, gpus, migCounts: this.#migCounts };
  }
}

const PCI_KEYS = ["resource.kubernetes.io/pciBusID", "pciBusID", "pcieBusID"] as const;

/** The minor number of the GPU that a device is or is cut from; a passthrough device is numbered otherwise. */
function minorOf(name: string): number | undefined {
  const minor = /^gpu-(\d{1,4})(?:-mig-.*)?$/.exec(name)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** A partition that may be made: the memory slices that it takes are its placement. */
function addPlacement(gpu: GpuParts, profile: string, counters: readonly string[]): void {
  const taken = counters
    .map((counter) => /^memory-slice-(\d{1,3})$/.exec(counter)?.[1])
    .filter((slice) => slice !== undefined)
    .map(Number);
  if (taken.length === 0) return;
  const known = gpu.profiles.get(profile) ?? { size: taken.length, starts: new Set() };
  gpu.profiles.set(profile, known);
  known.starts.add(Math.min(...taken));
}

function mebibytes(value: string | number, { ref, field }: Place): number {
  const bytes = parseQuantity(value);
  if (bytes !== null) return Math.floor(bytes / 1_048_576);
  throw badRecord(
    ref,
    `${field}.capacity.memory`,
    `"${String(value).slice(0, 64)}" is not a quantity`,
  );
}

/** For a list that has neither nodes nor slices. */
export function nothingThere(): ImportError {
  return new ImportError(
    "the file has neither nodes nor ResourceSlices: export with " +
      "kubectl get nodes,resourceslices.resource.k8s.io -o json",
  );
}
