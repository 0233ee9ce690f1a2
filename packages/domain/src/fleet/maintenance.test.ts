import { describe, expect, it } from "vitest";
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
import { cancelMaintenance, scheduleMaintenance } from "./maintenance.ts";
import { moveNode, removeNode } from "./move-node.ts";
import { setNodeState, setUnitHealth } from "./set-state.ts";

const ask = { nodeId: nodeId(0) } as const;
const window = { from: NOW + HOUR, to: NOW + 2 * HOUR };
const BOOKED = "rsv_00000000000000000000000000";

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

  it("lists the bookings that overlap as staying, and tells their tenants", () => {
    const turn = booked();
    const { plan } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    expect(plan).toEqual({ healed: [], staying: [BOOKED] });
    expect(turn.events[0]?.views.map((view) => view.tenantId)).toEqual(["t-own", "t-a"]);
  });

  it("does not list a booking that ends as the window starts", () => {
    const turn = booked(window.from);
    expect(accepted(scheduleMaintenance(turn, { ...ask, ...window })).plan.staying).toEqual([]);
  });

  it("is not scheduled when the agreed plan no longer holds", () => {
    const turn = booked();
    const expect_ = { healed: [], staying: [] };
    const done = accepted(scheduleMaintenance(turn, { ...ask, ...window, expect: expect_ }));
    expect(done).toEqual({ id: null, plan: { healed: [], staying: [BOOKED] } });
    expect(turn.state.node(nodeId(0))?.maintenance).toEqual([]);
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
    if (id === null) throw new Error("not scheduled");
    accepted(cancelMaintenance(turn, { ...ask, maintenanceId: id }));
    expect(turn.state.node(nodeId(0))?.maintenance).toEqual([]);
    expect(turn.takeEvents()).toEqual(["maintenance.scheduled", "maintenance.cancelled"]);
    expect(refused(cancelMaintenance(turn, { ...ask, maintenanceId: id }))).toMatchObject({
      code: "INVALID_STATE",
    });
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

describe("a node with a live booking, begun or not", () => {
  it("is neither moved nor removed", () => {
    for (const start of [NOW, NOW + HOUR]) {
      const turn = pool();
      turn.apply({
        kind: "reservation",
        before: null,
        after: booking({ start, end: start + HOUR }),
      });
      const target = turnOn(gpuPool(0, 0));
      expect(refused(removeNode(turn, ask))).toMatchObject({ code: "INVALID_STATE" });
      expect(refused(moveNode(turn, target, ask))).toMatchObject({ code: "INVALID_STATE" });
    }
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
