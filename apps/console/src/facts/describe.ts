/** What a reservation is, in a few words. */
import type { DeviceLine, Reservation } from "@berth/client";
import { countText } from "../format/gpus.ts";
import { countsText, resourceCount } from "../format/units.ts";

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
  if (line.class === "node") return countText(count, "whole node");
  const profile = line.selector?.profile;
  return profile === undefined ? resourceCount(count, line.class) : `${count} × ${profile}`;
}

/** How many of a kind it books: of whole GPUs, where no other kind is asked for. */
export function countOf({ devices, gang }: Booked, kind = "gpu"): number {
  const members = gang?.size ?? 1;
  const lines = devices.filter((line) => line.class === kind);
  return members * lines.reduce((sum, { count }) => sum + count, 0);
}

/** What some bookings have together, by kind: `12 GPUs and 3 MIG instances`; null for none. */
export function togetherText(all: readonly Booked[]): string | null {
  const counts = new Map<string, number>();
  for (const one of all)
    for (const kind of new Set(one.devices.map((line) => line.class)))
      counts.set(kind, (counts.get(kind) ?? 0) + countOf(one, kind));
  return countsText(counts);
}

/** The end of an id, by which people tell two of them apart: `rsv_…k3f9q2`. */
export function shortId(id: string): string {
  const [kind = "", rest = ""] = id.split("_", 2);
  return rest.length <= 8 ? id : `${kind}_…${rest.slice(-6)}`;
}
