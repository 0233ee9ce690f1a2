/** The one place that says what a number of units is a number of. */
import { number } from "./gpus.ts";

/** One of it, several of it. In the order in which they are said: what is booked first, what comes beside it last. */
const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  gpu: ["GPU", "GPUs"],
  "gpu.mig": ["MIG instance", "MIG instances"],
  "gpu.slot": ["GPU slot", "GPU slots"],
  node: ["node", "nodes"],
  "nic.vf": ["NIC function", "NIC functions"],
  disk: ["disk", "disks"],
  vcpu: ["vCPU", "vCPUs"],
  memoryGiB: ["GiB of memory", "GiB of memory"],
  hugepages1Gi: ["huge page of 1 GiB", "huge pages of 1 GiB"],
};

const LIST = new Intl.ListFormat("en-GB");

/** Several of a resource, without a number: `MIG instances`; a name that is not known as it is. */
export function nounText(resource: string): string {
  return NOUNS[resource]?.[1] ?? resource;
}

/** `1 GPU`, `3 MIG instances`; of a name that is not known, such as a profile's quota row, `3 × 3g.40gb`. */
export function resourceCount(count: number, resource: string): string {
  const nouns = NOUNS[resource];
  if (nouns === undefined) return `${number(count)} × ${resource}`;
  return `${number(count)} ${nouns[count === 1 ? 0 : 1]}`;
}

/** Counts of several resources: `8 GPUs, 16 NIC functions and 4 disks`; null when there is nothing of any. */
export function countsText(counts: ReadonlyMap<string, number>): string | null {
  const order = Object.keys(NOUNS);
  const at = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const said = [...counts]
    .filter(([, count]) => count > 0)
    .toSorted(([one], [other]) => at(one) - at(other))
    .map(([resource, count]) => resourceCount(count, resource));
  return said.length === 0 ? null : LIST.format(said);
}

/** Units by what they are: `8 GPUs and 16 NIC functions`; `no units` where there are none. */
export function unitsText(units: readonly { readonly class: string }[]): string {
  return countsText(byClass(units)) ?? "no units";
}

/** What a machine has. Of a GPU that is cut only the parts are listed: `28 MIG instances on 8 GPUs`. */
export function machineText(
  units: readonly { readonly class: string; readonly parentUnitId: string | null }[],
): string {
  const parts = units.filter((unit) => unit.class === "gpu.mig" || unit.class === "gpu.slot");
  const cut = new Set(parts.flatMap(({ parentUnitId }) => parentUnitId ?? [])).size;
  if (cut === 0 || units.some((unit) => unit.class === "gpu")) return unitsText(units);
  const rest = units.filter((unit) => !parts.includes(unit));
  const cutUp = `${unitsText(parts)} on ${resourceCount(cut, "gpu")}`;
  return rest.length === 0 ? cutUp : `${cutUp}, with ${unitsText(rest)}`;
}

function byClass(units: readonly { readonly class: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const unit of units) counts.set(unit.class, (counts.get(unit.class) ?? 0) + 1);
  return counts;
}
