/** Counted rows as parts of a bar. Pure. The parts add up to the whole: what is booked now and later is counted now. */
import type { CapacityRow, ModelTotals, PoolCapacity, Reservation } from "@berth/client";
import { countOf } from "../../facts/describe.ts";
import { RESERVED, UNBOOKED } from "../../format/free.ts";
import type { Part } from "../../ui/bar.tsx";

type Counted = Pick<ModelTotals, "total" | "allocatable" | "allocated" | "available">;

export interface Split {
  readonly total: number;
  readonly mine: number;
  readonly others: number;
  readonly later: number;
  readonly free: number;
  readonly down: number;
}

/** Whole GPUs, or what a shared pool is cut into. */
export const MAIN: readonly string[] = ["gpu", "gpu.mig", "gpu.slot"];

/** The row that a pool is measured by: its whole GPUs, or their parts where they are shared. */
export function mainRow({ capacity }: Pick<PoolCapacity, "capacity">): CapacityRow | null {
  const rows = MAIN.map((resource) => capacity.find((row) => row.resource === resource));
  return rows.find((row) => row !== undefined && row.total > 0) ?? null;
}

/** `mine` of what is booked now is the tenant's own; absent: not told apart. */
export function splitOf(row: Counted, mine = 0): Split {
  const { total, allocatable, allocated, available } = row;
  const own = Math.min(mine, allocated);
  return {
    total,
    mine: own,
    others: allocated - own,
    later: Math.max(0, allocatable - allocated - available),
    free: Math.min(available, allocatable),
    down: total - allocatable,
  };
}

export function sumOf(splits: readonly Split[]): Split {
  const sum = (pick: (split: Split) => number): number =>
    splits.reduce((all, split) => all + pick(split), 0);
  return {
    total: sum(({ total }) => total),
    mine: sum(({ mine }) => mine),
    others: sum(({ others }) => others),
    later: sum(({ later }) => later),
    free: sum(({ free }) => free),
    down: sum(({ down }) => down),
  };
}

/** What the fills of the bars mean. Without numbers: bars of GPUs and bars of parts of GPUs stand below one key. */
export const KEYS: readonly Pick<Part, "fill" | "name">[] = [
  { fill: "mine", name: "mine now" },
  { fill: "booked", name: "others now" },
  { fill: "later", name: RESERVED },
  { fill: "free", name: UNBOOKED },
  { fill: "down", name: "down" },
];

export function partsOf(split: Split): Part[] {
  return [
    { fill: "mine", name: "mine now", count: split.mine },
    { fill: "booked", name: split.mine > 0 ? "others now" : "booked now", count: split.others },
    { fill: "later", name: RESERVED, count: split.later },
    { fill: "free", name: UNBOOKED, count: split.free },
    { fill: "down", name: "down", count: split.down },
  ];
}

type Mine = Pick<Reservation, "poolId" | "state" | "start" | "end" | "devices" | "gang">;

/** How much of what a pool is measured by the tenant has at this moment. */
export function mineNow(
  reservations: readonly Mine[],
  {
    poolId,
    resource,
    now,
  }: { readonly poolId: string; readonly resource: string; readonly now: number },
): number {
  return reservations
    .filter((each) => each.poolId === poolId && each.state !== "scheduled")
    .filter(({ start, end }) => start <= now && now < end)
    .reduce((sum, each) => sum + countOf(each, resource), 0);
}

/** A sum of pools that are measured by the same. */
export interface Measured {
  readonly resource: string;
  readonly split: Split;
}

/** The sums by what is counted, whole GPUs first: GPUs and instances are never added up. */
export function sumsByResource(
  lines: readonly { readonly row: Pick<CapacityRow, "resource">; readonly split: Split }[],
): Measured[] {
  return MAIN.flatMap((resource): Measured[] => {
    const splits = lines.filter(({ row }) => row.resource === resource).map(({ split }) => split);
    return splits.length === 0 ? [] : [{ resource, split: sumOf(splits) }];
  });
}
