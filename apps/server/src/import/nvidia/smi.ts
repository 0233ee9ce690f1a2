/**
 * `nvidia-smi -q -x` of one machine.
 *
 * The elements are those of its own DTD (`nvsmi_device_v11`, `v12`, `v13`), as read in influxdata/telegraf
 * `plugins/inputs/nvidia_smi/schema_v11|v12|v13/types.go` with their captures. What a recovery action, a pending
 * page retirement and a pending row remapping mean: NVIDIA NVML `nvmlDeviceGpuRecoveryAction_t` and "GPU memory
 * error management". GPUs are listed in nvidia-smi's order; `minor_number` is N of /dev/nvidiaN.
 */
import { XmlElement, XmlError, parseXml } from "@rgrove/parse-xml";
import { ImportError, type RecordRef, badRecord } from "../document.ts";
import { type GpuDraft, type NodeDraft, fitLabels, linkedGroups, pciAddress } from "../draft.ts";
import type { Topology } from "./topology.ts";

export function isSmi(text: string): boolean {
  return /<nvidia_smi_log[\s>]/.test(text.slice(0, 8_192));
}

/** @throws ImportError */
export function readSmi(
  text: string,
  ref: RecordRef & { name: string },
  topology?: Topology,
): NodeDraft {
  const log = rootOf(text);
  const elements = childrenOf(log, "gpu");
  const gpus = numbered(
    elements,
    elements.map((element, at) => readGpu(element, { ref, at })),
  );
  if (topology && topology.gpus !== gpus.length)
    throw badRecord(ref, "gpu", `${gpus.length} GPUs, and ${topology.gpus} in the topology`);
  const domains = linkedGroups(
    gpus.map(({ uuid }) => uuid),
    topology?.links ?? [],
  );
  return {
    name: ref.name,
    labels: labelsOf(log, elements),
    gpus: gpus.map((gpu, at) => {
      const nvlinkDomain = gpu.nvlinkDomain ?? domains.get(at);
      return nvlinkDomain === undefined ? gpu : { ...gpu, nvlinkDomain };
    }),
  };
}

/**
 * The document type that nvidia-smi writes names a file and declares nothing: it is passed over. One that
 * declares entities is refused, and the reader knows no entity beyond XML's own five.
 */
function rootOf(text: string): XmlElement {
  // A GPU that has fallen off the bus puts its complaint before the document.
  const xml = text.slice(Math.max(0, text.search(/<\?xml|<!DOCTYPE|<nvidia_smi_log/)));
  const type = xml.indexOf("<!DOCTYPE");
  if (type >= 0 && xml.slice(type, xml.indexOf(">", type)).includes("["))
    throw new ImportError("the XML declares entities of its own, which nvidia-smi does not");
  try {
    const { root } = parseXml(xml);
    if (root?.name === "nvidia_smi_log") return root;
  } catch (error) {
    // A RangeError is the reader's stack on a document nested thousands deep.
    if (!(error instanceof XmlError) && !(error instanceof RangeError)) throw error;
    throw new ImportError(`the file is not XML: ${error.message.split("\n", 1)[0]}`);
  }
  throw new ImportError("the XML is not nvidia-smi's: its root is not nvidia_smi_log");
}

const childrenOf = (element: XmlElement | undefined, name: string): XmlElement[] =>
  (element?.children ?? []).filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  );

/** The text at a path of element names; empty when there is none. */
function textAt(element: XmlElement, ...path: readonly string[]): string {
  let at: XmlElement | undefined = element;
  for (const name of path) at = childrenOf(at, name)[0];
  return at?.text.trim() ?? "";
}

interface GpuPlace {
  readonly ref: RecordRef;
  readonly at: number;
}

function readGpu(gpu: XmlElement, { ref, at }: GpuPlace): GpuDraft {
  const field = (name: string) => `gpu[${at}].${name}`;
  const uuid = textAt(gpu, "uuid");
  if (!/^GPU-[0-9a-fA-F-]{36}$/.test(uuid))
    throw badRecord(ref, field("uuid"), `"${uuid.slice(0, 64)}" is not the UUID of a GPU`);
  const model = textAt(gpu, "product_name");
  if (model === "") throw badRecord(ref, field("product_name"), "is missing");
  const memoryMiB = memoryOf(gpu, ref, field("fb_memory_usage.total"));
  const bus = textAt(gpu, "pci", "pci_bus_id") || gpu.attributes["id"] || "";
  const nvlinkDomain = fabricOf(gpu);
  return {
    uuid,
    index: at,
    model,
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(/^[0-9a-fA-F]+:[0-9a-fA-F]+:/.test(bus) ? { pciAddress: pciAddress(bus) } : {}),
    ...(nvlinkDomain === undefined ? {} : { nvlinkDomain }),
    ...(isFaulty(gpu) ? { healthy: false } : {}),
  };
}

/** GPUs that share the machine's memory have none of their own to tell. */
function memoryOf(gpu: XmlElement, ref: RecordRef, field: string): number | undefined {
  const text = textAt(gpu, "fb_memory_usage", "total");
  const mebibytes = /^(\d{1,9}) MiB$/.exec(text)?.[1];
  if (mebibytes !== undefined) return Number(mebibytes);
  if (text === "" || NOTHING.test(text) || FAILED.test(text)) return undefined;
  throw badRecord(ref, field, `must be an amount in MiB, not "${text.slice(0, 64)}"`);
}

const NOTHING =
  /^(?:\[?n\/a\]?|\[?not supported\]?|none|requested functionality has been deprecated)$/i;
const FAILED = /GPU is lost|GPU requires reset|Unknown Error|ERR!/i;

/** Elements that say `Yes` when the GPU wants a reset or a repair before it can be relied on. */
const COMPLAINTS = [
  ["retired_pages", "pending_blacklist"],
  ["retired_pages", "pending_retirement"],
  ["remapped_rows", "remapped_row_pending"],
  ["remapped_rows", "remapped_row_failure"],
  ["gpu_reset_status", "reset_required"],
  ["gpu_reset_status", "drain_and_reset_recommended"],
  ["ecc_errors", "channel_repair_pending"],
  ["ecc_errors", "tpc_repair_pending"],
] as const;

function isFaulty(gpu: XmlElement): boolean {
  const action = textAt(gpu, "gpu_recovery_action");
  if (action !== "" && !NOTHING.test(action)) return true;
  if (/GPU is lost|GPU requires reset/i.test(gpu.text)) return true;
  if (FAILED.test(textAt(gpu, "fb_memory_usage", "total"))) return true;
  return COMPLAINTS.some((path) => /^yes$/i.test(textAt(gpu, ...path)));
}

/** A fabric over several machines; on one machine its cluster is all zeros, and the topology tells. */
function fabricOf(gpu: XmlElement): string | undefined {
  const cluster = textAt(gpu, "fabric", "clusterUuid");
  const clique = textAt(gpu, "fabric", "cliqueId");
  if (!/^[0-9a-fA-F-]{36}$/.test(cluster) || /^[0-]+$/.test(cluster)) return undefined;
  // Written as GPU feature discovery writes nvidia.com/gpu.clique.
  return /^\d+$/.test(clique) ? `${cluster}.${clique}` : undefined;
}

/** By minor number when each GPU has one of its own, since the place in the list moves when a GPU is lost. */
function numbered(elements: readonly XmlElement[], gpus: readonly GpuDraft[]): readonly GpuDraft[] {
  const minors = elements.map((element) => textAt(element, "minor_number"));
  const usable = minors.every((minor) => /^\d{1,3}$/.test(minor));
  if (!usable || new Set(minors).size !== minors.length) return gpus;
  return gpus.map((gpu, at) => ({ ...gpu, index: Number(minors[at]) }));
}

/** Under the keys of GPU feature discovery where it has one, so that a selector holds for both. */
function labelsOf(log: XmlElement, gpus: readonly XmlElement[]): Readonly<Record<string, string>> {
  const families = new Set(gpus.map((gpu) => textAt(gpu, "product_architecture")));
  const [family = ""] = families.size === 1 ? families : [];
  const inMig = gpus.filter((gpu) => textAt(gpu, "mig_mode", "current_mig") === "Enabled");
  const instances = gpus.flatMap((gpu) =>
    childrenOf(childrenOf(gpu, "mig_devices")[0], "mig_device"),
  );
  const labels: [string, string][] = [
    ["nvidia.com/cuda.driver-version.full", textAt(log, "driver_version")],
    ["nvidia.com/gpu.family", family.toLowerCase().replaceAll(" ", "-")],
    ["mig.gpus", inMig.length > 0 ? String(inMig.length) : ""],
    ["mig.instances", instances.length > 0 ? String(instances.length) : ""],
  ];
  return fitLabels(labels.filter(([, value]) => value !== "" && !NOTHING.test(value))).labels;
}
