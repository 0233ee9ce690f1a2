import { describe, expect, it } from "vitest";
import { cancelMaintenance, scheduleMaintenance } from "../fleet/maintenance.ts";
import type { UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Node } from "../model.ts";
import { mindNode } from "./heal.ts";
import {
  EIGHT,
  LATER,
  book,
  fail,
  nodesOf,
  now,
  onNode,
  release,
  sicken,
  told,
  unitsOf,
} from "../testing/healing.ts";
import { HOUR, NOW, accepted, gpuPool, gpus, nodeId, turnOn, unitId } from "./test-kit.ts";

describe("a booking that has not begun", () => {
  it("goes to other units, for the same window, when its node fails, and its tenant alone is told", () => {
    const turn = turnOn(gpuPool(2, 8));
    const before = book(turn, EIGHT);
    fail(turn, nodeId(0));
    const after = now(turn, before);
    expect(nodesOf(before)).toEqual([nodeId(0)]);
    expect(nodesOf(after)).toEqual([nodeId(1)]);
    expect(after).toMatchObject({
      start: before.start,
      end: before.end,
      degraded: null,
      version: 2,
    });
    const [from, to] = [before, after].map(({ members: [member] }) => [
      { index: 0, nodeId: member?.nodeId, unitIds: member?.unitIds },
    ]);
    expect(told(turn, "reservation.healed")).toMatchObject([
      { tenantId: "t-a", data: { reservationId: before.id, from, to } },
    ]);
  });

  it("stays, flagged, when there is no room, and goes as soon as another booking is released", () => {
    const turn = turnOn(gpuPool(2, 8));
    const before = book(turn, EIGHT);
    const other = book(turn, EIGHT, "t-b");
    fail(turn, nodeId(0), "unreachable");
    expect(now(turn, before)).toMatchObject({
      members: before.members,
      degraded: { since: NOW, cause: "NODE_STATE", unitIds: unitsOf(before) },
    });
    expect(told(turn, "reservation.degraded")).toHaveLength(1);
    release(turn, other);
    expect(now(turn, before)).toMatchObject({ degraded: null });
    expect(nodesOf(now(turn, before))).toEqual([nodeId(1)]);
  });

  it("is sound where it is when its node comes back, and that is told as healed", () => {
    const turn = turnOn(gpuPool(1, 8));
    const before = book(turn, EIGHT);
    fail(turn, nodeId(0));
    fail(turn, nodeId(0), "ready");
    expect(now(turn, before)).toMatchObject({
      degraded: null,
      members: before.members,
      version: 3,
    });
    expect(told(turn, "reservation.healed")).toMatchObject([{ data: { from: [], to: [] } }]);
  });

  it("leaves a node for a faulty unit of its own, and not for its neighbour's", () => {
    const turn = turnOn(gpuPool(1, 4));
    const [mine, theirs] = [book(turn, gpus(1, LATER)), book(turn, gpus(1, LATER), "t-b")];
    sicken(turn, unitsOf(mine)[0] as UnitId);
    expect(unitsOf(now(turn, mine))).not.toEqual(unitsOf(mine));
    expect(now(turn, theirs)).toBe(theirs);
  });

  it("that names its units goes nowhere else", () => {
    const turn = turnOn(gpuPool(2, 2));
    const exact = { class: "gpu", count: 1, selector: { unitIds: [unitId(0, 1)] } } as const;
    const before = book(turn, gpus(1, { ...LATER, devices: [exact] }));
    sicken(turn, unitId(0, 1));
    expect(now(turn, before).degraded).toMatchObject({ cause: "UNHEALTHY" });
    sicken(turn, unitId(0, 1), true);
    expect(now(turn, before).degraded).toBeNull();
  });

  it("comes before one that begins after it, whoever was booked first", () => {
    const turn = turnOn(gpuPool(2, 8));
    const last = book(turn, gpus(4, { start: NOW + 2 * HOUR, durationMs: 2 * HOUR }));
    const first = book(turn, gpus(4, { start: NOW + HOUR, durationMs: 2 * HOUR }));
    book(turn, gpus(4, { start: NOW + 3 * HOUR, durationMs: HOUR, devices: onNode(1, 4) }), "t-b");
    expect([nodesOf(first), nodesOf(last)].flat()).toEqual([nodeId(0), nodeId(0)]);
    turn.events.length = 0;
    fail(turn, nodeId(0));
    expect(now(turn, first).degraded).toBeNull();
    expect(nodesOf(now(turn, first))).toEqual([nodeId(1)]);
    expect(told(turn, "reservation.healed")[0]?.data["reservationId"]).toBe(first.id);
  });

  it("begins on what it has, still flagged, and its tenant is told once more", () => {
    const turn = turnOn(gpuPool(1, 8));
    const before = book(turn, EIGHT);
    fail(turn, nodeId(0));
    turn.takeEvents();
    turn.moveTo(NOW + HOUR);
    expect(turn.takeEvents()).toEqual(["reservation.activated", "reservation.degraded"]);
    expect(now(turn, before)).toMatchObject({ state: "active", degraded: { since: NOW } });
    fail(turn, nodeId(0), "ready");
    expect(now(turn, before)).toMatchObject({ state: "active", degraded: null });
  });

  it("lets a device go that its node no longer reports, as it leaves it", () => {
    const turn = turnOn(gpuPool(2, 1));
    const before = book(turn, gpus(1, LATER));
    const node = turn.state.node(nodeId(0)) as Node;
    const units = node.units.map((unit) => ({ ...unit, removed: true }));
    turn.apply({ kind: "node", before: node, after: { ...node, units } });
    mindNode(turn, node.id);
    expect(nodesOf(now(turn, before))).toEqual([nodeId(1)]);
    expect(turn.state.node(nodeId(0))?.units).toEqual([]);
  });
});

describe("a booking that has begun", () => {
  it("is never moved: it is flagged, and told when all is well again", () => {
    const turn = turnOn(gpuPool(2, 8));
    const before = book(turn, gpus(8));
    fail(turn, nodeId(0), "maintenance");
    expect(now(turn, before)).toMatchObject({ members: before.members, state: "active" });
    expect(now(turn, before).degraded).toMatchObject({ cause: "NODE_STATE" });
    fail(turn, nodeId(0), "ready");
    expect(now(turn, before).degraded).toBeNull();
    expect(turn.takeEvents()).toEqual([
      "reservation.created",
      "node.stateChanged",
      "reservation.degraded",
      "node.stateChanged",
      "reservation.healed",
    ]);
  });

  it("is told again when more of it fails, and keeps since when it is", () => {
    const turn = turnOn(gpuPool(1, 2));
    const before = book(turn, gpus(2));
    sicken(turn, unitId(0, 0));
    turn.moveTo(NOW + 1_000);
    sicken(turn, unitId(0, 1));
    const degraded = { since: NOW, cause: "UNHEALTHY", unitIds: unitsOf(before) };
    expect(now(turn, before)).toMatchObject({ degraded });
    expect(told(turn, "reservation.degraded")).toHaveLength(2);
  });
});

describe("several holds on one unit", () => {
  const review: UnitReservation = {
    id: "ursv_00000000000000000000000000",
    nodeId: nodeId(0),
    status: "needs-review",
    allowedOrgIds: ["t-a"],
    managingOrgIds: [],
    unitIds: [unitId(0, 0)],
    releasedUnitIds: [],
    startsAt: NOW,
    endsAt: null,
    endedAt: null,
    topologyGen: 0,
    reason: null,
    contractRef: null,
    createdBy: "ops",
    createdAt: NOW,
    updatedAt: NOW,
  };
  const CAUSES = ["MAINTENANCE", "UNHEALTHY", "NEEDS_REVIEW"] as const;
  const orders = CAUSES.flatMap((a) =>
    CAUSES.filter((b) => b !== a).map((b) => [a, b, CAUSES.find((c) => c !== a && c !== b)]),
  );

  it.each(orders)("are lifted as %s, %s, %s: the flag goes with the last", (...order) => {
    const turn = turnOn(gpuPool(1, 1));
    const before = book(turn, gpus(1));
    const ask = { nodeId: nodeId(0) };
    const window = { from: NOW + 60_000, to: NOW + HOUR };
    const { id: maintenanceId } = accepted(scheduleMaintenance(turn, { ...ask, ...window }));
    sicken(turn, unitId(0, 0));
    turn.apply({ kind: "unitReservation", before: null, after: review });
    mindNode(turn, nodeId(0));
    const lift = {
      MAINTENANCE: () => accepted(cancelMaintenance(turn, { ...ask, maintenanceId })),
      UNHEALTHY: () => sicken(turn, unitId(0, 0), true),
      NEEDS_REVIEW: () => {
        const after = { ...review, status: "active" as const };
        turn.apply({ kind: "unitReservation", before: review, after });
        mindNode(turn, nodeId(0));
      },
    };
    const left = [...CAUSES] as string[];
    for (const cause of order) {
      expect(now(turn, before).degraded?.cause).toBe(left[0]);
      lift[cause as keyof typeof lift]();
      left.splice(left.indexOf(cause as string), 1);
    }
    expect(now(turn, before).degraded).toBeNull();
    expect(now(turn, before).members).toBe(before.members);
  });
});
