/** Capacity on the wire: rows, totals by GPU model, previews. */
import type { Output } from "@berth/contract";
import type { BookingPreview, Candidate } from "@berth/domain";
import type { VisiblePool } from "../../call.ts";
import type { CountedRow, PoolRows } from "./store.ts";

type Summary = Output<"capacity.summary">;
type CapacityRow = Output<"capacity.byPool">["capacity"][number];
type Totals = Summary["byGpuModel"][string];

/** The key of the pools that name no model. */
const NO_MODEL = "other";
const SUMMED = ["total", "allocatable", "allocated", "reserved", "available"] as const;

/** By resource name. */
export function rowsView(rows: readonly CountedRow[]): CapacityRow[] {
  return rows.toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}

export function poolCapacityView(stored: PoolRows, pool: VisiblePool): Summary["pools"][number] {
  const { poolId, region, gpuModel, sharing, owned, archived } = pool;
  const capacity = rowsView(stored.rows);
  const { siteId } = stored;
  return {
    poolId,
    siteId,
    region,
    class: pool.class,
    gpuModel,
    sharing,
    owned,
    archived,
    capacity,
  };
}

/** Sums each pool's whole-GPU row; MIG instances, slots and scalars are no GPUs. */
export function totalsByModel(pools: Summary["pools"]): Summary["byGpuModel"] {
  // A Map, because a model may have any name that an object keeps for itself.
  const totals = new Map<string, Totals>();
  for (const pool of pools) {
    const row = pool.capacity.find((r) => r.resource === "gpu");
    if (!row) continue;
    const model = pool.gpuModel ?? NO_MODEL;
    const sum = totals.get(model) ?? zeros();
    totals.set(model, sum);
    for (const field of SUMMED) sum[field] += row[field];
  }
  return Object.fromEntries(totals);
}

function zeros(): Totals {
  return { total: 0, allocatable: 0, allocated: 0, reserved: 0, available: 0 };
}

export function previewView(preview: BookingPreview, asOf: number): Output<"capacity.preview"> {
  const { placement, request, preempting, earliestStart, searchedTo } = preview;
  const shown = placement.fits ? shownCandidates(preview, placement) : [];
  return {
    fits: placement.fits,
    start: request.start,
    end: request.end,
    candidates: shown.map(({ nodeId, nodeName, unitIds, score }) => ({
      nodeId,
      nodeName,
      atoms: [...unitIds],
      score,
    })),
    reason: placement.fits ? null : reasonView(placement.reason),
    preemptible: preempting && {
      count: preempting.victims.length,
      startsAt: preempting.startsAt,
      exact: preempting.exact,
    },
    earliestStart,
    searchedTo,
    asOf,
  };
}

/** Several members are shown as what would be booked together, one alone as the best of its kind. */
function shownCandidates(
  { request }: BookingPreview,
  placement: Extract<BookingPreview["placement"], { fits: true }>,
): readonly Candidate[] {
  const together = request.gang !== null || request.binding === "node";
  return together ? placement.members : placement.candidates;
}

function reasonView({
  code,
  message,
  blocked,
}: Extract<BookingPreview["placement"], { fits: false }>["reason"]): NonNullable<
  Output<"capacity.preview">["reason"]
> {
  return { code, message, blocked: blocked.map(({ cause, nodes }) => ({ cause, nodes })) };
}
