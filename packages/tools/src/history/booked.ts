/** What a batch booked has to be allowed where it was booked: quota, hardware, ring-fences, scalars. */
import { cameInService } from "./between.ts";
import type { Applied, Known } from "./replay.ts";
import { overQuota } from "./refusals.ts";
import { isLive } from "./rows.ts";
import type { Report } from "./types.ts";
import { type View, isSound, isWithheld, overScalars, peak, usage } from "./view.ts";

const TAKES = new Set([
  "reservation.created",
  "reservation.extended",
  "reservation.healed",
  "reservation.reprieved",
]);

/**
 * Judged by the pool before the batch or after it: which of the two a booking in its middle saw, no event
 * says. What is booked in a batch and over in it is not judged; a unit that came in service and went out of
 * it again in the batch was in service in between.
 */
export function checkBooked(applied: Applied, report: Report): void {
  const { events, touched, after, before } = applied;
  const takes = new Map<string, string>();
  for (const { type, reservationId } of events)
    if (reservationId !== null && TAKES.has(type)) takes.set(reservationId, type);
  for (const known of touched) {
    const type = takes.get(known.row.id);
    if (type !== undefined && isLive(known.row))
      checkOne(known, { type, after, before, events }, report);
  }
  checkUsed(applied, report);
}

interface Taken extends Pick<Applied, "after" | "before" | "events"> {
  readonly type: string;
}

function checkOne({ row }: Known, { type, after, before, events }: Taken, report: Report): void {
  const where = `${row.id} in ${after.gateId} at ${after.seq}`;
  // Who was charged before the quota was cut, or within the batch, had it then.
  const paid = { ...after, quotas: before.quotas };
  const over = overQuota(after, row.id, row);
  if (over.length > 0 && overQuota(paid, row.id, row).length > 0 && type !== "reservation.healed")
    report("OVER_QUOTA", `${where}: ${over.join()}`);
  // What is reprieved or extended keeps the units that it had, sound or not.
  if (type !== "reservation.created" && type !== "reservation.healed") return;
  // What is healed where it is keeps its units too, withheld meanwhile or not.
  const kept = new Set(type === "reservation.healed" ? unitsOf(before, row.id) : []);
  const asker = { start: row.start, end: row.end, tenantId: row.tenant_id, spot: row.spot };
  for (const { nodeId, unitIds } of row.members) {
    for (const unitId of unitIds) {
      const taken = !kept.has(unitId);
      if (taken && isWithheld(after, unitId, asker) && isWithheld(before, unitId, asker))
        report("WITHHELD", `${where}: ${unitId}`);
      const unit = after.units.get(unitId);
      const isOut = !isSound(after, unitId, row) && !isSound(before, unitId, row);
      if (isOut && !(unit && cameInService(events, unit))) report("UNSOUND", `${where}: ${unitId}`);
    }
    const scalars = overScalars(after, nodeId, row);
    const then = overScalars({ ...after, nodes: before.nodes }, nodeId, row);
    if (scalars.length > 0 && then.length > 0)
      report("OVER_SCALAR", `${where}: ${scalars.join()} of ${nodeId}`);
  }
}

function unitsOf(view: View, id: string): readonly string[] {
  const held = view.reservations.find((row) => row.id === id);
  return held?.members.flatMap(({ unitIds }) => unitIds) ?? [];
}

/** The shown use of each row that the batch counted: the peak from its `now` on. */
function checkUsed({ batch, after }: Applied, report: Report): void {
  const counted = batch.rows.filter(({ table, op }) => table === "quotas" && op === "U");
  if (counted.length === 0) return;
  for (const row of after.quotas) {
    if (row.used_at !== batch.at) continue;
    const levels = usage(after, { payer: row.tenant_id, resource: row.resource });
    const most = peak(levels, { start: row.used_at, end: Number.MAX_SAFE_INTEGER });
    if (most !== row.used)
      report(
        "QUOTA_DRIFT",
        `${row.tenant_id} uses ${most} ${row.resource} of ${after.gateId} at ${after.seq}, its row says ${row.used}`,
      );
  }
}
