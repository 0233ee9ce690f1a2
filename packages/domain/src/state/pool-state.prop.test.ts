/** Any history, applied step by step: the state is what its rows say, and every step can be taken back. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PoolSnapshot } from "../model.ts";
import { recountRollup } from "../rollup/recount.ts";
import { bruteRollup, bruteUsage, historyArb, LAST_INSTANT, unfold } from "../testing/index.ts";
import type { Change } from "../turn.ts";
import { PoolState } from "./pool-state.ts";

const TENANTS = ["t-a", "t-b"];
const RESOURCES = ["gpu", "nic.vf", "disk", "vcpu"];
/** Beyond every booking that a history makes. */
const END_OF_TIME = LAST_INSTANT + 60;

test("the running rollup is a recount, and both are what counting unit by unit gives", () => {
  fc.assert(
    fc.property(historyArb, (history) => {
      const state = PoolState.load(history.start);
      for (const { change, snapshot, now } of unfold(history)) {
        state.apply(change);
        // Within an instant some of what is due may still be unapplied: only then do the rows disagree.
        if (state.due(now)) continue;
        const rows = state.rollup();
        expect(rows).toEqual(recountRollup(snapshot, now));
        expect(rows).toEqual(bruteRollup(snapshot, now, END_OF_TIME));
      }
    }),
    { numRuns: 150 },
  );
});

test("taking changes back, last first, gives every state before exactly", () => {
  fc.assert(
    fc.property(historyArb, (history) => {
      const state = PoolState.load(history.start);
      const undone: { change: Change; before: unknown }[] = [];
      for (const { change } of unfold(history)) {
        undone.push({ change, before: dump(state) });
        state.apply(change);
      }
      for (const { change, before } of undone.reverse()) {
        state.revert(change);
        expect(dump(state)).toEqual(before);
      }
    }),
    { numRuns: 150 },
  );
});

test("a state that lived through a history is the state loaded from its rows", () => {
  fc.assert(
    fc.property(historyArb, (history) => {
      const state = PoolState.load(history.start);
      let last: PoolSnapshot = history.start;
      for (const { change, snapshot } of unfold(history)) {
        state.apply(change);
        last = snapshot;
      }
      expect(dump(state)).toEqual(dump(PoolState.load(last)));
    }),
    { numRuns: 150 },
  );
});

test("absorbing the changed rows of many steps at once gives the same state, whatever their order", () => {
  fc.assert(
    fc.property(historyArb, fc.boolean(), (history, reversed) => {
      const state = PoolState.load(history.start);
      const follower = PoolState.load(history.start);
      const rows = new Map<string, Change>();
      let left = false;
      for (const { change } of unfold(history)) {
        state.apply(change);
        left ||= change.kind === "node" && change.after === null;
        if (change.kind !== "config") rows.set((change.after ?? change.before)?.id ?? "", change);
      }
      // A node that leaves makes followers load anew.
      fc.pre(!left);
      const list = reversed ? [...rows.values()].reverse() : [...rows.values()];
      follower.absorb({
        config: null,
        nodes: list.flatMap((c) => (c.kind === "node" && c.after ? [c.after] : [])),
        reservations: list.flatMap((c) => (c.kind === "reservation" ? [c.after] : [])),
        unitReservations: [],
        waiters: [],
      });
      expect(dump(follower)).toEqual(dump(state));
    }),
    { numRuns: 150 },
  );
});

test("charged use is what adding up the bookings of each instant gives", () => {
  fc.assert(
    fc.property(historyArb, (history) => {
      const state = PoolState.load(history.start);
      let last: PoolSnapshot = history.start;
      for (const { change, snapshot } of unfold(history)) {
        state.apply(change);
        last = snapshot;
      }
      for (const tenantId of TENANTS) {
        for (const resource of RESOURCES) {
          const usage = state.usage(tenantId, resource);
          let peak = 0;
          for (let at = END_OF_TIME; at >= 0; at -= 1) {
            const level = bruteUsage(last, { tenantId, resource }, at);
            peak = Math.max(peak, level);
            expect(usage?.at(at) ?? 0).toBe(level);
            expect(usage?.peakFrom(at) ?? 0).toBe(peak);
          }
        }
      }
    }),
    { numRuns: 25 },
  );
});

test("what is due next is the earliest thing that time will do", () => {
  fc.assert(
    fc.property(historyArb, (history) => {
      const state = PoolState.load(history.start);
      for (const { change, snapshot } of unfold(history)) {
        state.apply(change);
        const times = snapshot.reservations.flatMap((r) => [
          r.end,
          ...(r.leaseExpiresAt === null ? [] : [r.leaseExpiresAt]),
          ...(r.endingSoonAt === null ? [] : [r.endingSoonAt]),
          ...(r.startedAt === null ? [r.start] : []),
        ]);
        const windows = snapshot.nodes.flatMap((n) =>
          n.maintenance.map((m) => (m.active ? m.end : m.start)),
        );
        const all = [...times, ...windows];
        expect(state.nextDueAt()).toBe(all.length > 0 ? Math.min(...all) : null);
      }
    }),
    { numRuns: 100 },
  );
});

/** Everything that the state tells anybody. */
function dump(state: PoolState): unknown {
  const nodes = [...state.nodes()];
  const units = nodes.flatMap((node) => node.units);
  return {
    config: state.config,
    nodes,
    units: units.map(({ id }) => [state.unit(id), state.bookingsOf(id)]),
    on: nodes.map(({ id }) => state.reservationsOn(id)),
    live: [...state.reservations()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    scalars: state.entries.map((entry) =>
      [...entry.scalarUse]
        .map(([s, use]) => [s, [...use.all.points()], [...use.later.points()], use.active])
        .filter(([, all]) => (all as unknown[]).length > 0),
    ),
    rollup: state.rollup(),
    usage: TENANTS.map((t) => RESOURCES.map((r) => [...(state.usage(t, r)?.points() ?? [])])),
    due: state.due(Number.MAX_SAFE_INTEGER),
  };
}
