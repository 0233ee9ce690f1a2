/**
 * Healing held against a model that shares no code with it: after whatever happens to a small pool, what
 * is sound, flagged and moved is what plain counting says.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cancelMaintenance, scheduleMaintenance } from "../fleet/maintenance.ts";
import { removeNode } from "../fleet/move-node.ts";
import { setNodeState, setUnitHealth } from "../fleet/set-state.ts";
import type { Node, PoolSnapshot, Reservation, Unit } from "../model.ts";
import { createReservation } from "./create.ts";
import { useFreed } from "./freed.ts";
import { releaseReservation } from "./release.ts";
import {
  MINUTE,
  type TestTurn,
  gpuNode,
  gpuPool,
  gpus,
  nodeId,
  turnOn,
  unitId,
} from "./test-kit.ts";

const GPUS = 3;
const RACKS = ["a", "a", "b", "b"];
const SPAN = 8;

const pool = (): PoolSnapshot => ({
  ...gpuPool(0, 0, { quotas: [{ tenantId: "t-a", resource: "gpu", max: 1_000 }] }),
  nodes: RACKS.map((rack, n) => gpuNode(n, GPUS, { labels: { rack } })),
});

type Step = (turn: TestTurn) => void;
const node = fc.nat({ max: RACKS.length - 1 });
const later = fc.integer({ min: 0, max: SPAN }).map((minutes) => minutes * MINUTE);
const lasts = fc.integer({ min: 1, max: SPAN }).map((minutes) => minutes * MINUTE);

const shapeArb = fc.oneof(
  fc.record({
    count: fc.integer({ min: 1, max: GPUS }),
    gang: fc.constant(null),
    lease: fc.constant(0),
  }),
  fc.record({
    count: fc.integer({ min: 1, max: GPUS }),
    gang: fc.record(
      { size: fc.integer({ min: 2, max: 3 }), topologyKey: fc.constant("rack") },
      { requiredKeys: ["size"] },
    ),
    lease: fc.constant(0),
  }),
  fc.record({
    count: fc.constant(0),
    gang: fc.constant(null),
    lease: fc.integer({ min: 1, max: 2 }),
  }),
);

const creating = fc
  .record({ shape: shapeArb, ahead: later, durationMs: lasts, spot: fc.boolean() })
  .map(({ shape: { count, gang, lease }, ahead, durationMs, spot }): Step => {
    return (turn) => {
      const leased = { binding: "node", node: { profileId: "p", profileVersion: null } } as const;
      createReservation(turn, {
        tenantId: "t-a",
        ancestors: [],
        projectId: null,
        leaseSeconds: null,
        createdBy: "ci",
        shape: gpus(count, {
          ...{ gang, durationMs, spot, start: ahead === 0 ? null : turn.now + ahead },
          ...(lease > 0 && { ...leased, devices: [{ class: "node", count: lease }] }),
        }),
      });
    };
  });

const releasing = fc.nat({ max: 30 }).map((pick): Step => (turn) => {
  const live = [...turn.state.reservations()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const one = live[pick % Math.max(1, live.length)];
  if (one) releaseReservation(turn, { reservationId: one.id, tenantId: one.tenantId });
});

const STATES = [
  "ready",
  "ready",
  "unhealthy",
  "unreachable",
  "maintenance",
  "provisioning",
] as const;
const stating = fc.tuple(node, fc.constantFrom(...STATES)).map(([n, state]): Step => (turn) => {
  setNodeState(turn, { nodeId: nodeId(n), state });
});

const sickening = fc
  .tuple(node, fc.nat({ max: GPUS - 1 }), fc.boolean())
  .map(([n, at, healthy]): Step => (turn) => {
    setUnitHealth(turn, { nodeId: nodeId(n), unitId: unitId(n, at), healthy });
  });

const maintaining = fc.tuple(node, later, lasts).map(([n, ahead, long]): Step => (turn) => {
  const from = turn.now + ahead;
  scheduleMaintenance(turn, { nodeId: nodeId(n), from, to: from + long });
});

const callingOff = node.map((n): Step => (turn) => {
  const [window] = turn.state.node(nodeId(n))?.maintenance ?? [];
  if (window) cancelMaintenance(turn, { nodeId: nodeId(n), maintenanceId: window.id });
});

const waiting = fc.integer({ min: 1, max: 3 }).map((minutes): Step => (turn) => {
  turn.moveTo(turn.now + minutes * MINUTE);
});

const anyStep = fc.oneof(
  { weight: 8, arbitrary: creating },
  { weight: 3, arbitrary: releasing },
  { weight: 4, arbitrary: stating },
  { weight: 4, arbitrary: sickening },
  { weight: 3, arbitrary: maintaining },
  { weight: 2, arbitrary: callingOff },
  { weight: 3, arbitrary: waiting },
);

/** Planned and taken back, as a batch is that another server came before. */
const idly =
  (step: Step): Step =>
  (turn) => {
    const [changes, events, now] = [turn.changes.length, turn.events.length, turn.now];
    step(turn);
    useFreed(turn);
    while (turn.changes.length > changes) turn.state.revert(turn.changes.pop() as never);
    turn.events.length = events;
    turn.now = now;
    turn.takeFreed();
  };

const history = fc.array(
  fc.oneof({ weight: 6, arbitrary: anyStep }, { weight: 1, arbitrary: anyStep.map(idly) }),
  { minLength: 5, maxLength: 40 },
);

const meets = (a: { start: number; end: number }, b: { start: number; end: number }): boolean =>
  Math.max(a.start, b.start) < Math.min(a.end, b.end);

/** Whether this unit can be used throughout the window, whoever holds it. */
function isSound(of: Node, unit: Unit, window: { start: number; end: number }): boolean {
  return of.state === "ready" && unit.healthy && !of.maintenance.some((m) => meets(m, window));
}

/** Pins included: they are somebody's, too. */
function isTaken(turn: TestTurn, unit: Unit, about: Reservation): boolean {
  return [...turn.state.reservations()].some(
    (r) =>
      r.id !== about.id &&
      ((r.members.some((m) => m.unitIds.includes(unit.id)) && meets(r, about)) ||
        r.pins.some(
          (pin) => pin.unitIds.includes(unit.id) && meets({ start: pin.from, end: r.start }, about),
        )),
  );
}

/** Counts: all units of a node are alike here, so how many are free says everything. */
function hasRoom(turn: TestTurn, r: Reservation): boolean {
  const free = [...turn.state.nodes()].map((of) => ({
    rack: of.labels["rack"],
    units: of.units.filter((unit) => isSound(of, unit, r) && !isTaken(turn, unit, r)).length,
  }));
  if (r.binding === "node")
    return free.filter(({ units }) => units === GPUS).length >= r.members.length;
  const each = r.devices[0]?.count ?? 0;
  const places = (rack?: string): number =>
    free
      .filter((of) => rack === undefined || of.rack === rack)
      .reduce((sum, { units }) => sum + Math.floor(units / each), 0);
  if (r.gang?.topologyKey === undefined) return places() >= (r.gang?.size ?? 1);
  return RACKS.some((rack) => places(rack) >= (r.gang?.size ?? 1));
}

function unsound(turn: TestTurn, r: Reservation): string[] {
  return r.members.flatMap(({ nodeId: at, unitIds }) => {
    const of = turn.state.node(at) as Node;
    return of.units.filter((u) => unitIds.includes(u.id) && !isSound(of, u, r)).map(({ id }) => id);
  });
}

function expectHealed(turn: TestTurn, kept: Map<string, Reservation["members"]>): void {
  for (const r of turn.state.reservations()) {
    const flagged = [...(r.degraded?.unitIds ?? [])];
    expect(flagged.toSorted()).toEqual(unsound(turn, r).toSorted());
    expect(r.degraded?.untried).toBeUndefined();
    for (const { unitIds } of r.members)
      for (const id of unitIds) {
        const { unit } = turn.state.unit(id) as { unit: Unit };
        expect(isTaken(turn, unit, r), `${id} is held twice`).toBe(false);
      }
    if (r.state === "scheduled") {
      if (r.degraded) expect(hasRoom(turn, r), `${r.id} could be elsewhere`).toBe(false);
      if (r.gang?.topologyKey) expect(racksOf(turn, r).size).toBe(1);
      kept.delete(r.id);
      continue;
    }
    expect(r.members, `${r.id} was moved`).toEqual(kept.get(r.id) ?? r.members);
    kept.set(r.id, r.members);
  }
}

function racksOf(turn: TestTurn, { members }: Reservation): Set<string | undefined> {
  return new Set(members.map((m) => turn.state.node(m.nodeId)?.labels["rack"]));
}

describe("healing", () => {
  it("flags what is unsound and nothing else, moves what has not begun if it can be, and never what has", () => {
    const seen = { moved: 0, flagged: 0, stuck: 0 };
    fc.assert(
      fc.property(history, (steps) => {
        const turn = turnOn(pool());
        const kept = new Map<string, Reservation["members"]>();
        for (const step of steps) {
          step(turn);
          useFreed(turn);
          expectHealed(turn, kept);
          seen.stuck += turn.state.degradedCount;
        }
        for (const { type, views } of turn.events) {
          if (type === "reservation.degraded") seen.flagged += 1;
          if (type === "reservation.healed" && views[0]?.data["to"]?.toString()) seen.moved += 1;
        }
      }),
      { numRuns: 400 },
    );
    // Not by looking away: all of it came up.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
  });

  it("empties a node that is to be removed, or leaves all as it was", () => {
    const seen = { removed: 0, refused: 0 };
    fc.assert(
      fc.property(history, node, (steps, n) => {
        const turn = turnOn(pool());
        for (const step of steps) {
          step(turn);
          useFreed(turn);
        }
        const held = turn.state.reservationsOn(nodeId(n));
        const before = [...turn.state.reservations()];
        const from = turn.changes.length;
        const done = removeNode(turn, { nodeId: nodeId(n) });
        if (done.ok) {
          seen.removed += held.length > 0 ? 1 : 0;
          expect(held.every(({ state }) => state === "scheduled")).toBe(true);
          expectHealed(turn, new Map());
          return;
        }
        seen.refused += 1;
        while (turn.changes.length > from) turn.state.revert(turn.changes.pop() as never);
        const all = (rows: Iterable<Reservation>) =>
          [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(all(turn.state.reservations())).toEqual(all(before));
      }),
      { numRuns: 200 },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
  });
});
