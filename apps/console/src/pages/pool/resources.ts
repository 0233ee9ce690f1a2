/** What is counted, in words. */
const NAMES: Readonly<Record<string, string>> = {
  gpu: "GPUs",
  "gpu.mig": "MIG instances",
  "gpu.slot": "GPU slots",
  "nic.vf": "NIC functions",
  disk: "Disks",
  node: "Nodes",
  vcpu: "vCPUs",
  memoryGiB: "Memory, GiB",
  hugepages1Gi: "Huge pages of 1 GiB",
};

/** `GPUs`; a name that is not known is said as it is, such as a MIG profile's quota row. */
export function resourceText(resource: string): string {
  return NAMES[resource] ?? resource;
}

/** What is booked comes first, what it stands on last; names that are not known at the end. */
export function byResource(one: string, other: string): number {
  const order = Object.keys(NAMES);
  const at = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return at(one) - at(other);
}
