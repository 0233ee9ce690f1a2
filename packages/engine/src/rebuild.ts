/**
 * The rebuild: recounts a pool's capacity rows and quota use from its bookings and says what differs. In a
 * healthy system nothing ever does.
 */
import type { StoredCounts } from "@berth/db";
import { PoolState, type Result, type Turn, ok, recountRollup } from "@berth/domain";
import type { Correction } from "./types.ts";

export type { Correction } from "./types.ts";

/** What the stored counts say against what the bookings say, at one sequence. */
export function differences({ head, snapshot, rollup, used }: StoredCounts): Correction[] {
  // As of the batch that wrote the counts: what fell due since then is the next batch's.
  const now = head.lastAt;
  const state = PoolState.load(snapshot);
  const corrections: Correction[] = [];
  const rows = new Map(rollup.map((row) => [row.resource, row]));
  const recounted = recountRollup(snapshot, now);
  for (const counted of recounted) {
    const stored = rows.get(counted.resource) ?? null;
    const same =
      stored !== null && Object.entries(counted).every(([k, v]) => Reflect.get(stored, k) === v);
    if (!same)
      corrections.push({ row: counted.resource, stored: { ...stored }, counted: { ...counted } });
  }
  const there = new Set(recounted.map((row) => row.resource));
  for (const stored of rollup)
    if (!there.has(stored.resource))
      corrections.push({ row: stored.resource, stored: { ...stored }, counted: {} });
  for (const { tenantId, resource, used: stored } of used) {
    const counted = state.usage(tenantId, resource)?.peakFrom(now) ?? 0;
    if (counted !== stored)
      corrections.push({
        row: `quota of ${tenantId}: ${resource}`,
        stored: { used: stored },
        counted: { used: counted },
      });
  }
  return corrections;
}

/** Writes fresh counts: every batch carries the rollup, and one that touches the config carries all quota use. */
export function correct(corrections: readonly Correction[]): (turn: Turn) => Result<null> {
  return (turn) => {
    const { config } = turn.state;
    if (!config) return ok(null);
    turn.apply({ kind: "config", before: config, after: config });
    const rows = corrections.map(({ row }) => row);
    turn.emit({ type: "rollup.corrected", views: [{ tenantId: config.tenantId, data: { rows } }] });
    return ok(null);
  };
}
