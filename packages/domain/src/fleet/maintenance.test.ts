import { describe, expect, it } from "vitest";
import type { Reservation } from "../model.ts";
import type { Result } from "../refusal.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  booking,
  gpuPool,
  nodeId,
  refused,
  turnOn,
  unitId,
} from "../reservations/test-kit.ts";
import { type MaintenancePlan, cancelMaintenance, scheduleMaintenance } from "./maintenance.ts";
import { moveNode, removeNode } from "./move-node.ts";
import { setNodeState, setUnitHealth } from "./set-state.ts";

const ask = { nodeId: nodeId(0) } as const;
const window = { from: NOW + HOUR, to: NOW + 2 * HOUR };
const BOOKED = "rsv_00000000000000000000000000";
const OTHER = "rsv_00000000000000000000000009";
const THIRD = "rsv_0000000000000000000000000a";
const NOBODY = { healed: [], staying: [] };

function pool(): TestTurn {
  return turnOn(gpuPool(1, 2));
}

/** With a booking of t-a over `[NOW, end)`. */
function booked(end: number = NOW + 3 * HOUR): TestTurn {
  const turn = pool();
  turn.apply({ kind: "reservation", before: null, after: booking({ end }) });
  return turn;
}

describe("a maintenance window", () => {
  it("is on the node, with its event to the owner", () => {
    const turn = pool();
    const { id } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    expect(turn.state.node(nodeId(0))).toMatchObject({
      version: 2,
      maintenance: [{ id, start: window.from, end: window.to, active: false }],
    });
    expect(turn.events).toMatchObject([
      {
        type: "maintenance.scheduled",
        views: [{ tenantId: "t-own", data: { maintenanceId: id } }],
      },
    ]);
  });

  it("leaves a booking that has begun where it is, flagged, and tells its tenant", () => {
    const turn = booked();
    const { plan } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    expect(plan).toEqual({ healed: [], staying: [BOOKED] });
    expect(turn.events[0]?.views.map((view) => view.tenantId)).toEqual(["t-own", "t-a"]);
    expect(turn.state.reservation(BOOKED)?.degraded).toMatchObject({ cause: "MAINTENANCE" });
  });

  it("moves those that have not begun to other nodes, and answers which it moved and which it could not", () => {
    const turn = turnOn(gpuPool(2, 2));
    const half = window.from + HOUR / 2;
    const rows = [
      booking({ id: BOOKED, gpus: 2, start: window.from, end: half }),
      booking({ id: OTHER, gpus: 2, start: half, end: window.to }),
      booking({ id: THIRD, gpus: 1, start: half, end: window.to, onNode: 1 }),
    ];
    for (const after of rows) turn.apply({ kind: "reservation", before: null, after });
    const { plan } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    expect(plan).toEqual({ healed: [BOOKED], staying: [OTHER] });
    expect(turn.state.reservation(BOOKED)?.members[0]?.nodeId).toBe(nodeId(1));
    expect(turn.state.reservation(OTHER)).toMatchObject({ degraded: { cause: "MAINTENANCE" } });
    expect(turn.state.reservation(THIRD)).toBe(rows[2]);
  });

  it("touches no booking that ends as the window starts, or starts as it ends", () => {
    const turn = booked(window.from);
    const after = booking({ id: OTHER, start: window.to, end: window.to + HOUR });
    turn.apply({ kind: "reservation", before: null, after });
    const { plan } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    expect(plan).toEqual({ healed: [], staying: [] });
    expect(turn.state.reservation(OTHER)).toBe(after);
  });

  it("is refused with the new plan when the agreed one no longer holds, and granted with that one", () => {
    const refusal = refused(scheduleMaintenance(booked(), { ...ask, ...window, expect: NOBODY }));
    const plan: MaintenancePlan = { healed: [], staying: [BOOKED] };
    expect(refusal).toMatchObject({ code: "CONFLICT", kind: "plan", plan: { id: null, ...plan } });
    const done = accepted(scheduleMaintenance(booked(), { ...ask, ...window, expect: plan }));
    expect(done.plan).toEqual(plan);
  });

  it("is not empty and not over", () => {
    const wrong = [
      { from: NOW + HOUR, to: NOW + HOUR },
      { from: NOW - 2 * HOUR, to: NOW - HOUR },
    ];
    for (const given of wrong)
      expect(refused(scheduleMaintenance(pool(), { ...ask, ...given }))).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["to"] }],
      });
  });

  it("can be called off, and again is the wrong time", () => {
    const turn = pool();
    const { id } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    accepted(cancelMaintenance(turn, { ...ask, maintenanceId: id }));
    expect(turn.state.node(nodeId(0))?.maintenance).toEqual([]);
    expect(turn.takeEvents()).toEqual(["maintenance.scheduled", "maintenance.cancelled"]);
    expect(refused(cancelMaintenance(turn, { ...ask, maintenanceId: id }))).toMatchObject({
      code: "INVALID_STATE",
    });
  });

  it("takes its flags with it when it is called off, and when it is over", () => {
    const called = booked();
    const { id } = accepted(scheduleMaintenance(called, { ...ask, ...window }));
    const { plan } = accepted(cancelMaintenance(called, { ...ask, maintenanceId: id }));
    expect(plan).toEqual({ healed: [BOOKED], staying: [] });
    expect(called.state.reservation(BOOKED)?.degraded).toBeNull();
    const over = booked();
    accepted(scheduleMaintenance(over, { ...ask, ...window }));
    over.moveTo(window.to - 1);
    expect(over.state.reservation(BOOKED)?.degraded).not.toBeNull();
    over.moveTo(window.to);
    expect(over.state.reservation(BOOKED)?.degraded).toBeNull();
  });
});

describe("a node write", () => {
  const stale = { ...ask, version: 7 };
  const writes: Record<string, (turn: TestTurn) => unknown> = {
    setNodeState: (turn) => refused(setNodeState(turn, { ...stale, state: "unhealthy" })),
    setUnitHealth: (turn) =>
      refused(setUnitHealth(turn, { ...stale, unitId: unitId(0, 0), healthy: false })),
    scheduleMaintenance: (turn) => refused(scheduleMaintenance(turn, { ...stale, ...window })),
    removeNode: (turn) => refused(removeNode(turn, stale)),
    moveNode: (turn) => refused(moveNode(turn, turnOn(gpuPool(0, 0)), stale)),
  };
  for (const [name, write] of Object.entries(writes))
    it(`${name} at a stale version is a conflict and writes nothing`, () => {
      const turn = pool();
      expect(write(turn)).toMatchObject({ code: "CONFLICT", kind: "version" });
      expect(turn.changes).toEqual([]);
    });

  it("that says what is so already tells nobody", () => {
    const turn = pool();
    accepted(setNodeState(turn, { ...ask, state: "ready" }));
    accepted(setUnitHealth(turn, { ...ask, unitId: unitId(0, 0), healthy: true }));
    expect(turn.changes).toEqual([]);
    expect(turn.takeEvents()).toEqual([]);
  });
});

describe("a node that is to leave", () => {
  const wanted = { start: NOW + HOUR, end: NOW + 2 * HOUR };
  const leaving: Record<string, (turn: TestTurn) => Result<unknown>> = {
    removed: (turn) => removeNode(turn, ask),
    moved: (turn) => moveNode(turn, turnOn(gpuPool(0, 0)), ask),
  };
  const on = (nodes: number, given: Partial<Reservation>): TestTurn => {
    const turn = turnOn(gpuPool(nodes, 2));
    turn.apply({ kind: "reservation", before: null, after: booking(given) });
    return turn;
  };

  it.each(Object.keys(leaving))("is not %s while a booking that has begun holds it", (how) => {
    const refusal = refused(leaving[how]?.(on(2, {})) as Result<unknown>);
    expect(refusal).toMatchObject({ code: "INVALID_STATE" });
  });

  it.each(Object.keys(leaving))(
    "is not %s while one under notice holds it, begun or not",
    (how) => {
      const cut = { endsAt: wanted.end, originalEnd: wanted.end };
      const preemption = { noticeAt: NOW, byId: OTHER, ...cut } as const;
      const turn = on(2, { ...wanted, state: "preempting", spot: true, preemption });
      const refusal = refused(leaving[how]?.(turn) as Result<unknown>);
      expect(refusal).toMatchObject({ code: "INVALID_STATE" });
    },
  );

  it.each(Object.keys(leaving))("is %s once those that have not begun are elsewhere", (how) => {
    const turn = on(2, wanted);
    accepted(leaving[how]?.(turn) as Result<unknown>);
    expect(turn.state.reservation(BOOKED)?.members[0]?.nodeId).toBe(nodeId(1));
    expect(turn.state.node(nodeId(0))).toBeUndefined();
    expect(turn.takeEvents()).toEqual(["reservation.healed", "node.removed"]);
  });

  it.each(Object.keys(leaving))("is not %s when one of them finds no room", (how) => {
    const refusal = refused(leaving[how]?.(on(1, wanted)) as Result<unknown>);
    expect(refusal).toMatchObject({
      code: "INVALID_STATE",
      message: expect.stringContaining("1 booking holds units of node n0"),
    });
  });
});

describe("a free node", () => {
  it("moves with all it has, one version on", () => {
    const [from, to] = [pool(), turnOn(gpuPool(0, 0))];
    const before = from.state.node(nodeId(0));
    const moved = accepted(moveNode(from, to, ask));
    expect(moved).toEqual({ ...before, version: 2 });
    expect([from.state.nodeCount, to.state.nodeCount]).toEqual([0, 1]);
    expect([from.takeEvents(), to.takeEvents()]).toEqual([["node.removed"], ["node.registered"]]);
  });
});
