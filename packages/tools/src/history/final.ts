/** The tables in the end against what the log adds up to. */
import type { PoolReplay } from "./replay.ts";
import { type BookingRow, type QuotaRow, type ReservationRow, spanOf } from "./rows.ts";
import type { FinalTables, Report } from "./types.ts";

export function checkFinal(
  final: FinalTables,
  pools: ReadonlyMap<string, PoolReplay>,
  report: Report,
): void {
  for (const { id, seq } of final.gates)
    if ((pools.get(id)?.seq ?? 0) !== seq)
      report("FINAL", `${id} is at ${seq}, its log ends at ${pools.get(id)?.seq ?? 0}`);
  for (const { stream, count } of final.events)
    if ((pools.get(stream)?.eventCount ?? 0) !== count)
      report(
        "FINAL",
        `${stream} has ${count} events, its log ${pools.get(stream)?.eventCount ?? 0}`,
      );
  checkReservations(final, pools, report);
  checkQuotas(final, pools, report);
}

function checkReservations(
  final: FinalTables,
  pools: ReadonlyMap<string, PoolReplay>,
  report: Report,
): void {
  const stored = new Map(
    final.reservations.map((row) => [String(row["id"]), row as unknown as ReservationRow]),
  );
  const bookings = Map.groupBy(
    final.bookings as unknown as BookingRow[],
    (row) => row.reservation_id,
  );
  for (const pool of pools.values())
    for (const [id, { row, endedSeq }] of pool.reservations) {
      if (endedSeq !== null) continue;
      const found = stored.get(id);
      stored.delete(id);
      if (!found || found.version !== row.version || found.state !== row.state)
        report("FINAL", `${id} is ${found?.state ?? "not live"}, by the log ${row.state}`);
      const spans = (bookings.get(id) ?? []).map((b) => `${b.unit_key} ${text(spanOf(b.during))}`);
      const replayed = [...pool.bookings.spansOf(id)].map(([key, span]) => `${key} ${text(span)}`);
      if (spans.toSorted().join() !== replayed.toSorted().join())
        report(
          "FINAL",
          `${id} has booked ${spans.length} units, by the log ${replayed.length}, or other windows`,
        );
    }
  for (const id of stored.keys()) report("FINAL", `${id} is live and not in the log`);
}

const text = ({ start, end }: { readonly start: number; readonly end: number }): string =>
  `${start}-${end}`;

function checkQuotas(
  final: FinalTables,
  pools: ReadonlyMap<string, PoolReplay>,
  report: Report,
): void {
  const name = (poolId: string, row: QuotaRow): string =>
    `${poolId} ${row.tenant_id} ${row.resource}`;
  const stored = new Map(
    final.quotas.map((row) => [
      name(String(row["pool_id"]), row as unknown as QuotaRow),
      row as unknown as QuotaRow,
    ]),
  );
  const replayed = [...pools.values()].flatMap((pool) =>
    pool.view().quotas.map((row) => [name(pool.gateId, row), row] as const),
  );
  for (const [key, row] of replayed) {
    const found = stored.get(key);
    stored.delete(key);
    if (found?.used !== row.used || found.max !== row.max)
      report(
        "FINAL",
        `quota ${key}: ${found?.used} of ${found?.max} in use, by the log ${row.used} of ${row.max}`,
      );
  }
  for (const key of stored.keys()) report("FINAL", `quota ${key} is not in the log`);
}
