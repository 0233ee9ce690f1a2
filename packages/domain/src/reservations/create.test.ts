import { describe, expect, it } from "vitest";
import { TIME_MAX } from "../duration.ts";
import { NO_SCALARS, type PoolConfig } from "../model.ts";
import { createReservation } from "./create.ts";
import { previewBooking } from "./preview.ts";
import type { BookingShape } from "./request.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  gpuPool,
  gpus,
  nodeId,
  refused,
  turnOn,
  unitId,
} from "./test-kit.ts";

const DAY = 24 * HOUR;

function pool(given: Partial<PoolConfig> = {}): TestTurn {
  return turnOn(gpuPool(2, 4, given));
}

const create = (turn: TestTurn, shape: BookingShape, given = {}) =>
  createReservation(turn, {
    tenantId: "t-a",
    ancestors: [],
    shape,
    projectId: null,
    leaseSeconds: null,
    createdBy: "t-a/ci",
    ...given,
  });

/** The preview at the same state, run through. */
function preview(turn: TestTurn, shape: BookingShape, tenantId = "t-a") {
  const steps = previewBooking(turn.state, turn.now, { tenantId, ancestors: [], shape });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

describe("a search for the earliest start", () => {
  it("ends where a booking would end after the end of time", () => {
    const turn = pool({ policy: { horizon: TIME_MAX, maxDuration: TIME_MAX } });
    const seen = preview(turn, gpus(5));
    expect(seen).toMatchObject({
      ok: true,
      value: { placement: { fits: false }, earliestStart: null, searchedTo: TIME_MAX - HOUR },
    });
  });

  it("finds no start from which the booking would pass the end of time", () => {
    const turn = turnOn(gpuPool(1, 1, { policy: { horizon: TIME_MAX, maxDuration: TIME_MAX } }));
    const start = TIME_MAX - 2 * HOUR;
    accepted(create(turn, gpus(1, { start, durationMs: 2 * HOUR - 1 })));
    expect(preview(turn, gpus(1, { start }))).toMatchObject({
      ok: true,
      value: { earliestStart: null, searchedTo: TIME_MAX - HOUR },
    });
  });
});

describe("create", () => {
  it("books now: active at once, on one node, its tenant told", () => {
    const turn = pool();
    const made = accepted(create(turn, gpus(3)));
    expect(made).toMatchObject({
      state: "active",
      start: NOW,
      end: NOW + HOUR,
      endingSoonAt: NOW + 54 * MINUTE,
      leaseExpiresAt: null,
      chargedTenantId: "t-a",
      version: 1,
    });
    expect(made.members).toHaveLength(1);
    expect(made.members[0]?.unitIds).toHaveLength(3);
    expect(turn.events).toMatchObject([
      { type: "reservation.created", views: [{ tenantId: "t-a", data: { state: "active" } }] },
    ]);
  });

  it("books ahead: scheduled, the lease counted from the start", () => {
    const shape = gpus(1, { start: NOW + DAY });
    expect(accepted(create(pool(), shape, { leaseSeconds: 60 }))).toMatchObject({
      state: "scheduled",
      leaseExpiresAt: NOW + DAY + MINUTE,
    });
  });

  it("never gives a lease past the end", () => {
    const made = accepted(create(pool(), gpus(1), { leaseSeconds: 86_400 }));
    expect(made.leaseExpiresAt).toBe(NOW + HOUR);
  });

  it.each([0, 1, MINUTE])("takes a start %d ms in the past for now", (late) => {
    const made = accepted(create(pool(), gpus(1, { start: NOW - late })));
    expect(made).toMatchObject({ start: NOW, end: NOW + HOUR, state: "active" });
  });

  it.each([
    ["a start over a minute in the past", { start: NOW - MINUTE - 1 }, "start"],
    ["a start beyond the horizon", { start: NOW + 366 * DAY + 1 }, "start"],
    ["a length beyond maxDuration", { durationMs: 366 * DAY + 1 }, "duration"],
    [
      "a foreign sharing mode",
      { devices: [{ class: "gpu", count: 1, sharing: "mig" }] },
      "devices",
    ],
    [
      "a unit named twice",
      {
        devices: [{ class: "gpu", count: 2, selector: { unitIds: [unitId(0, 0), unitId(0, 0)] } }],
      },
      "devices",
    ],
    [
      "a unit named in two lines",
      {
        devices: [
          { class: "gpu", count: 1, selector: { unitIds: [unitId(0, 0)] } },
          { class: "gpu", count: 1, selector: { unitIds: [unitId(0, 0)] } },
        ],
      },
      "devices",
    ],
    [
      "fewer units named than counted",
      { devices: [{ class: "gpu", count: 2, selector: { unitIds: [unitId(0, 0)] } }] },
      "devices",
    ],
    ["more units than a reservation has", { devices: [{ class: "gpu", count: 4_097 }] }, "devices"],
  ] as const)("refuses %s, and so does preview", (_name, given, field) => {
    const turn = pool();
    const shape = gpus(1, given as Partial<BookingShape>);
    for (const refusal of [refused(create(turn, shape)), refused(preview(turn, shape))]) {
      expect(refusal).toMatchObject({ code: "INVALID_INPUT" });
      expect(refusal.code === "INVALID_INPUT" && refusal.issues[0]?.path[0]).toBe(field);
    }
    expect(turn.changes).toEqual([]);
  });

  it("refuses an end past 2^47", () => {
    const policy = { horizon: TIME_MAX, maxDuration: TIME_MAX };
    const turn = pool({ policy });
    const shape = (durationMs: number) => gpus(1, { start: TIME_MAX - DAY, durationMs });
    expect(refused(create(turn, shape(DAY + 1)))).toMatchObject({
      issues: [{ path: ["duration"] }],
    });
    expect(accepted(create(turn, shape(DAY))).end).toBe(TIME_MAX);
  });

  it("takes a start at the horizon and a length of maxDuration", () => {
    const policy = { horizon: "7d", maxDuration: "2d" };
    const shape = gpus(1, { start: NOW + 7 * DAY, durationMs: 2 * DAY });
    expect(accepted(create(pool({ policy }), shape)).end).toBe(NOW + 9 * DAY);
  });

  it("answers a stranger NOT_FOUND and the owner of an archived pool INVALID_STATE", () => {
    const archived = pool({ archivedAt: NOW });
    for (const ask of [create, (turn: TestTurn, shape: BookingShape) => preview(turn, shape)]) {
      expect(refused(ask(archived, gpus(1)))).toEqual({ code: "NOT_FOUND" });
    }
    expect(refused(create(pool(), gpus(1), { tenantId: "t-x" }))).toEqual({ code: "NOT_FOUND" });
    expect(refused(create(archived, gpus(1), { tenantId: "t-own" })).code).toBe("INVALID_STATE");
    expect(refused(preview(archived, gpus(1), "t-own")).code).toBe("INVALID_STATE");
  });

  it("asks the quota before the room: what passes it is over quota even where nothing is free", () => {
    const quotas = [{ tenantId: "t-a", resource: "gpu", max: 2 }];
    const turn = pool({ quotas });
    expect(refused(create(turn, gpus(5)))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      resource: "gpu",
      max: 2,
      peak: 0,
      requested: 5,
    });
    accepted(create(turn, gpus(2)));
    expect(refused(create(turn, gpus(1)))).toMatchObject({ code: "QUOTA_EXCEEDED", peak: 2 });
  });

  it("charges a descendant to the offered tenant above it", () => {
    const offers = [{ tenantId: "t-top", includeDescendants: true, priority: 0 }];
    const quotas = [{ tenantId: "t-top", resource: "gpu", max: 3 }];
    const turn = pool({ offers, quotas });
    const child = { tenantId: "t-leaf", ancestors: ["t-mid", "t-top"] };
    expect(accepted(create(turn, gpus(2), child)).chargedTenantId).toBe("t-top");
    expect(refused(create(turn, gpus(2), { ...child, tenantId: "t-leaf2" }))).toMatchObject({
      max: null,
      peak: null,
      remaining: 1,
    });
    expect(refused(create(turn, gpus(2), { tenantId: "t-top" }))).toMatchObject({
      max: 3,
      peak: 2,
    });
  });

  it("gives the reason that preview gives, and preview says when it would fit", () => {
    const turn = pool();
    accepted(create(turn, gpus(4)));
    accepted(create(turn, gpus(4, { durationMs: 2 * HOUR })));
    const refusal = refused(create(turn, gpus(1)));
    const seen = accepted(preview(turn, gpus(1)));
    expect(refusal.code === "NO_CAPACITY" && refusal.reason).toEqual(
      !seen.placement.fits && seen.placement.reason,
    );
    expect(seen.earliestStart).toBe(NOW + HOUR);
    accepted(create(turn, gpus(1, { start: NOW + HOUR })));
  });

  it("does not fit classes that an exclusive pool does not have", () => {
    const turn = pool({ quotas: [{ tenantId: "t-a", resource: "gpu.mig", max: 9 }] });
    const shape = gpus(1, { devices: [{ class: "gpu.mig", count: 1 }] });
    expect(refused(create(turn, shape))).toMatchObject({
      code: "NO_CAPACITY",
      reason: { code: "CLASS" },
    });
  });

  it("takes the node's divisible resources and refuses more than it has", () => {
    const turn = pool();
    const shape = (vcpu: number) => gpus(1, { resources: { ...NO_SCALARS, vcpu } });
    accepted(create(turn, shape(64)));
    accepted(create(turn, shape(64)));
    expect(refused(create(turn, shape(1)))).toMatchObject({ reason: { code: "SCALAR" } });
    expect(turn.state.usage("t-a", "vcpu")?.peakFrom(NOW)).toBe(128);
  });

  it("books exactly the units named", () => {
    const unitIds = [unitId(1, 3), unitId(1, 0)];
    const devices = [{ class: "gpu", count: 2, selector: { unitIds } }] as const;
    const made = accepted(create(pool(), gpus(2, { devices })));
    expect(made.members[0]?.nodeId).toBe(nodeId(1));
    expect(made.members[0]?.unitIds.toSorted()).toEqual(unitIds.toSorted());
  });
});
