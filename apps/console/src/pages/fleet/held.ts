/** What keeps a node where it is. */
import type { NodeSchedule } from "@berth/client";
import { countText, gpusText } from "../../format/gpus.ts";
import { laneOfNode } from "../../lanes/node-lanes.ts";

/** Its bookings that run or come, and its GPUs that are set aside. */
export interface Held {
  readonly bookings: number;
  readonly aside: number;
}

export function heldOf(node: NodeSchedule): Held {
  const { spans } = laneOfNode(node, new Map());
  const held = node.units.filter((unit) => unit.spans.some(({ kind }) => kind === "withheld"));
  return {
    bookings: spans.filter(({ kind }) => kind === "mine" || kind === "booked").length,
    aside: held.length,
  };
}

/** `1 booking, 2 GPUs set aside`; only what there is. */
export function heldText({ aside, bookings }: Held): string {
  const parts = [
    bookings === 0 ? null : countText(bookings, "booking"),
    aside === 0 ? null : `${gpusText(aside)} set aside`,
  ].filter((part) => part !== null);
  return parts.join(", ");
}

/** Why it may neither change its pool nor leave the fleet; null: nothing holds it. */
export function bookedRefusal({ bookings }: Held): string | null {
  if (bookings === 0) return null;
  const hold = bookings === 1 ? "holds" : "hold";
  return `${countText(bookings, "booking")} ${hold} its units: it can go once they have ended.`;
}

/** Why it may not leave the fleet; null: nothing holds it. */
export function removalRefusal(held: Held): string | null {
  const aside =
    held.aside === 0 ? null : `${gpusText(held.aside)} of it are set aside: end that first.`;
  return bookedRefusal(held) ?? aside;
}
