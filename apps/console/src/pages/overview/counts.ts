/** Counted rows as parts of a bar. Pure. The parts add up to the whole: what is booked now and later is counted now. */
import type { CapacityRow, ModelTotals, PoolCapacity, Reservation } from "@berth/client";
import { gpusOf } from "../../facts/describe.ts";
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
const MAIN = ["gpu", "gpu.mig", "gpu.slot"];

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

export function partsOf(split: Split): Part[] {
  return [
    { fill: "mine", name: "mine now", count: split.mine },
    { fill: "booked", name: split.mine > 0 ? "others now" : "booked now", count: split.others },
    { fill: "later", name: "reserved or set aside", count: split.later },
    { fill: "free", name: "free", count: split.free },
    { fill: "down", name: "down", count: split.down },
  ];
}

/** Whole GPUs that the tenant has at this moment, by pool. */
export function mineByPool(
  reservations: readonly Reservation[],
  now: number,
): ReadonlyMap<string, number> {
  const mine = new Map<string, number>();
  for (const reservation of reservations) {
    const isNow = reservation.start <= now && now < reservation.end;
    if (!isNow || reservation.state === "scheduled") continue;
    const { poolId } = reservation;
    mine.set(poolId, (mine.get(poolId) ?? 0) + (gpusOf(reservation) ?? 0));
  }
  return mine;
}
