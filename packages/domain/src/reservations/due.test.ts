import { describe, expect, it } from "vitest";
import { applyDue } from "./due.ts";
import { endingSoonAt } from "./ending-soon.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  booking,
  gpuNode,
  gpuPool,
  nodeId,
  turnOn,
  unitId,
} from "./test-kit.ts";

const A = "rsv_0000000000000000000000000a";
const B = "rsv_0000000000000000000000000b";

function holding(...reservations: ReturnType<typeof booking>[]): TestTurn {
  const turn = turnOn(gpuPool(1, 1));
  for (const after of reservations) turn.apply({ kind: "reservation", before: null, after });
  turn.changes.length = 0;
  return turn;
}

const last = (turn: TestTurn, id: string) =>
  turn.changes
    .flatMap((c) => (c.kind === "reservation" && c.after.id === id ? [c.after] : []))
    .at(-1);

describe("applyDue", () => {
  it("hands a unit over at one instant: the end comes before the start", () => {
    const turn = holding(
      booking({ id: B }),
      booking({ id: A, start: NOW + HOUR, end: NOW + 2 * HOUR }),
    );
    turn.moveTo(NOW + HOUR);
    expect(turn.takeEvents()).toEqual(["reservation.completed", "reservation.activated"]);
    expect(turn.state.reservation(B)).toBeUndefined();
    expect(turn.state.reservation(A)?.state).toBe("active");
    expect(turn.state.bookingsOf(unitId(0, 0))).toHaveLength(1);
  });

  it("dates what happened by its own instant, however late it is applied", () => {
    const turn = holding(booking({ id: A, start: NOW + MINUTE, end: NOW + HOUR }));
    turn.moveTo(NOW + 50 * HOUR);
    expect(turn.takeEvents()).toEqual(["reservation.activated", "reservation.completed"]);
    expect(last(turn, A)).toMatchObject({
      state: "completed",
      endedAt: NOW + HOUR,
      endReason: "its time was over",
      version: 3,
      updatedAt: NOW + HOUR,
    });
  });

  it("does nothing a second time", () => {
    const turn = holding(booking({ id: A, endingSoonAt: NOW + 54 * MINUTE }));
    turn.moveTo(NOW + HOUR);
    expect(turn.takeEvents()).toEqual(["reservation.endingSoon", "reservation.completed"]);
    applyDue(turn);
    expect(turn.takeEvents()).toEqual([]);
    expect(turn.state.nextDueAt()).toBeNull();
  });

  it("leaves alone what is due one millisecond from now", () => {
    const turn = holding(booking({ id: A }));
    turn.moveTo(NOW + HOUR - 1);
    expect(turn.changes).toEqual([]);
  });

  it("ends a lapsed lease at its own instant, as expired", () => {
    const turn = holding(
      booking({
        id: A,
        leaseSeconds: 60,
        leaseExpiresAt: NOW + MINUTE,
        endingSoonAt: NOW + 54 * MINUTE,
      }),
    );
    turn.moveTo(NOW + 10 * MINUTE);
    expect(last(turn, A)).toMatchObject({
      state: "expired",
      endedAt: NOW + MINUTE,
      endingSoonAt: null,
    });
    expect(turn.takeEvents()).toEqual(["reservation.expired"]);
  });

  it("completes a booking whose lease reaches its very end", () => {
    const turn = holding(booking({ id: A, leaseSeconds: 3_600, leaseExpiresAt: NOW + HOUR }));
    turn.moveTo(NOW + HOUR);
    expect(last(turn, A)?.state).toBe("completed");
    expect(turn.takeEvents()).toEqual(["reservation.completed"]);
  });

  it("tells once that a booking is about to end, and changes no version by it", () => {
    const turn = holding(booking({ id: A, endingSoonAt: NOW + 54 * MINUTE }));
    turn.moveTo(NOW + 54 * MINUTE);
    expect(turn.events).toMatchObject([
      { type: "reservation.endingSoon", views: [{ tenantId: "t-a", data: { end: NOW + HOUR } }] },
    ]);
    expect(turn.state.reservation(A)).toMatchObject({ version: 1, endingSoonAt: null });
  });

  it("begins and ends maintenance, the owner told", () => {
    const pool = gpuPool(0, 0);
    const window = {
      id: "mnt_00000000000000000000000000" as const,
      start: NOW + MINUTE,
      end: NOW + HOUR,
      active: false,
    };
    const turn = turnOn({ ...pool, nodes: [gpuNode(0, 2, { maintenance: [window] })] });
    turn.moveTo(NOW + MINUTE);
    const begun = { maintenance: [{ ...window, active: true }], version: 2 };
    expect(turn.state.node(nodeId(0))).toMatchObject(begun);
    turn.moveTo(NOW + HOUR);
    expect(turn.state.node(nodeId(0))).toMatchObject({ maintenance: [], version: 3 });
    expect(turn.events.map((e) => [e.type, e.views.map((v) => v.tenantId)])).toEqual([
      ["maintenance.started", ["t-own"]],
      ["maintenance.ended", ["t-own"]],
    ]);
  });

  it("tells the owner of maintenance also of a node in no pool", () => {
    const id = "mnt_00000000000000000000000000";
    const window = { id, start: NOW + MINUTE, end: NOW + HOUR, active: false } as const;
    const node = gpuNode(0, 2, { maintenance: [window] });
    const blank = { config: null, reservations: [], unitReservations: [], waiters: [] };
    const turn = turnOn({ ...blank, gateId: node.id, nodes: [node] });
    turn.moveTo(NOW + MINUTE);
    turn.moveTo(NOW + HOUR);
    expect(turn.events.map((e) => [e.type, e.views.map((v) => v.tenantId)])).toEqual([
      ["maintenance.started", ["t-own"]],
      ["maintenance.ended", ["t-own"]],
    ]);
  });

  it("lets a device that is no longer reported leave with its last booking", () => {
    const turn = turnOn(gpuPool(1, 2));
    turn.apply({ kind: "reservation", before: null, after: booking({ id: A, gpus: 2 }) });
    const node = gpuNode(0, 2);
    const units = node.units.map((unit, at) => (at === 0 ? { ...unit, removed: true } : unit));
    turn.apply({ kind: "node", before: node, after: { ...node, units } });
    turn.moveTo(NOW + HOUR - 1);
    expect(turn.state.unit(unitId(0, 0))).toBeDefined();
    turn.moveTo(NOW + HOUR);
    expect(turn.state.unit(unitId(0, 0))).toBeUndefined();
    expect(turn.state.unit(unitId(0, 1))).toBeDefined();
    expect(turn.state.node(nodeId(0))?.version).toBe(2);
  });
});

describe("endingSoonAt", () => {
  it("is half an hour before the end, or a tenth of the length when that is less", () => {
    expect(endingSoonAt(0, 10 * HOUR)).toBe(9.5 * HOUR);
    expect(endingSoonAt(0, 5 * HOUR)).toBe(4.5 * HOUR);
    expect(endingSoonAt(0, HOUR)).toBe(54 * MINUTE);
    expect(endingSoonAt(0, 1_005)).toBe(905);
  });
});
