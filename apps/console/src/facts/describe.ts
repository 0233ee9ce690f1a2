/** What a reservation is, in a few words. */
import type { DeviceLine, Reservation } from "@berth/client";
import { countText, gpusText } from "../format/gpus.ts";

type Booked = Pick<Reservation, "devices" | "gang">;

/** `16 GPUs on 2 nodes`, `1 × 3g.40gb`, `2 whole nodes`. */
export function whatText({ devices, gang }: Booked): string {
  const members = gang?.size ?? 1;
  const lines = devices.map((line) => lineText(line, members)).join(", ");
  const isSpread = members > 1 && devices.every((line) => line.class !== "node");
  return isSpread ? `${lines} on ${countText(members, "node")}` : lines;
}

function lineText(line: DeviceLine, members: number): string {
  const count = line.count * members;
  switch (line.class) {
    case "gpu":
      return gpusText(count);
    case "gpu.mig":
      return `${count} × ${line.selector?.profile ?? "MIG"}`;
    case "gpu.slot":
      return countText(count, "GPU slot");
    case "nic.vf":
      return countText(count, "NIC function");
    case "disk":
      return countText(count, "disk");
    default:
      return countText(count, "whole node");
  }
}

/** Whole GPUs that it books; null when it books something else. */
export function gpusOf({ devices, gang }: Booked): number | null {
  const gpus = devices.filter((line) => line.class === "gpu");
  const members = gang?.size ?? 1;
  return gpus.length === 0 ? null : members * gpus.reduce((sum, { count }) => sum + count, 0);
}

/** The end of an id, by which people tell two of them apart: `rsv_…k3f9q2`. */
export function shortId(id: string): string {
  const [kind = "", rest = ""] = id.split("_", 2);
  return rest.length <= 8 ? id : `${kind}_…${rest.slice(-6)}`;
}
