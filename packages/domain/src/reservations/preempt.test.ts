/** Regular bookings that find room where spot bookings are, and what becomes of both sides. */
import { describe, expect, it } from "vitest";
import type { TenantId } from "../ids.ts";
import type { PoolConfig, Reservation } from "../model.ts";
import { recountRollup } from "../rollup/recount.ts";
import { scheduleMaintenance } from "../fleet/maintenance.ts";
import { createReservation } from "./create.ts";
import { extendReservation } from "./extend.ts";
import { previewBooking } from "./preview.ts";
import { releaseReservation } from "./release.ts";
import { renewReservation } from "./renew.ts";
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

const NOTICE = 2 * MINUTE;

function book(
  turn: TestTurn,
  shape: BookingShape,
  more: { tenantId?: TenantId; leaseSeconds?: number } = {},
): Reservation {
  return accepted(tryBook(turn, shape, more));
}

function tryBook(
  turn: TestTurn,
  shape: BookingShape,
  { tenantId = "t-a", leaseSeconds }: { tenantId?: TenantId; leaseSeconds?: number } = {},
): ReturnType<typeof createReservation> {
  const who = { tenantId, ancestors: [], createdBy: `${tenantId}/ci`, projectId: null };
  return createReservation(turn, { ...who, shape, leaseSeconds: leaseSeconds ?? null });
}

const quotaOf = (tenantId: string, max: number) => ({ tenantId, resource: "gpu", max });

const spot = (count: number, more: Partial<BookingShape> = {}): BookingShape =>
  gpus(count, { spot: true, durationMs: 4 * HOUR, ...more });

/** One node of 8 GPUs, and what it may be told beforehand. */
function poolWith(config: Partial<PoolConfig> = {}, nodes = 1): TestTurn {
  return turnOn(gpuPool(nodes, 8, config));
}

function noticed(turn: TestTurn): Reservation[] {
  return [...turn.state.reservations()].filter(({ state }) => state === "preempting");
}

function preemptible(turn: TestTurn, shape: BookingShape): unknown {
  const steps = previewBooking(turn.state, turn.now, { tenantId: "t-b", ancestors: [], shape });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { preempting } = accepted(step.value);
  return preempting && { count: preempting.victims.length, startsAt: preempting.startsAt };
}

/** Exactly the GPUs of one node. */
const allOf = (node: number): Partial<BookingShape> => ({
  devices: [
    {
      class: "gpu",
      count: 8,
      selector: { unitIds: Array.from({ length: 8 }, (_, at) => unitId(node, at)) },
    },
  ],
});

const live = (turn: TestTurn, { id }: Reservation): Reservation => {
  const found = turn.state.reservation(id);
  if (!found) throw new Error(`${id} is not live`);
  return found;
};

describe("who is told, and how many", () => {
  it.each([
    { spots: [1, 1, 1, 1, 1, 1, 1, 1], asks: 1, victims: 1 },
    { spots: [1, 1, 1, 1, 1, 1], asks: 3, victims: 1 },
    { spots: [4, 1, 1, 1, 1], asks: 4, victims: 1 },
    { spots: [2, 2, 2, 2], asks: 5, victims: 3 },
  ])("$asks GPUs beside spot bookings of $spots: $victims", ({ spots, asks, victims }) => {
    const turn = poolWith();
    for (const count of spots) book(turn, spot(count));
    expect(preemptible(turn, gpus(asks))).toMatchObject({
      count: victims,
      startsAt: NOW + NOTICE,
    });
    const booked = book(turn, gpus(asks), { tenantId: "t-b" });
    expect(noticed(turn)).toHaveLength(victims);
    expect(booked).toMatchObject({ state: "scheduled", start: NOW + NOTICE });
    expect(booked.end).toBe(NOW + NOTICE + HOUR);
  });

  it("nobody is told for a spot request, nor when regular bookings are in the way", () => {
    const full = poolWith();
    for (let i = 0; i < 8; i += 1) book(full, gpus(1));
    expect(refused(tryBook(full, gpus(1)))).toMatchObject({ code: "NO_CAPACITY" });
    expect(preemptible(full, gpus(1))).toBeNull();
    const spots = poolWith();
    book(spots, spot(8));
    expect(refused(tryBook(spots, spot(1)))).toMatchObject({ code: "NO_CAPACITY" });
    expect(noticed(spots)).toEqual([]);
  });

  it("a request over quota places nothing and tells nobody", () => {
    const quotas = [quotaOf("t-a", 8), quotaOf("t-b", 1)];
    const turn = poolWith({ quotas });
    book(turn, spot(8));
    expect(refused(tryBook(turn, gpus(2), { tenantId: "t-b" }))).toMatchObject({
      code: "QUOTA_EXCEEDED",
    });
    expect(noticed(turn)).toEqual([]);
  });

  it("quota is looked at in the window that it gets, before anybody is told", () => {
    const quotas = ["t-a", "t-b", "t-c"].map((tenantId) => quotaOf(tenantId, 8));
    const turn = poolWith({ quotas }, 2);
    book(turn, gpus(8, allOf(0)));
    book(turn, gpus(8, { ...allOf(0), start: NOW + HOUR }), { tenantId: "t-b" });
    book(turn, spot(8, allOf(1)), { tenantId: "t-c" });
    // An hour from now fits its quota; an hour from the end of the notice runs into what it has at one.
    expect(refused(tryBook(turn, gpus(8), { tenantId: "t-b" }))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      peak: 8,
    });
    expect(noticed(turn)).toEqual([]);
  });

  it.each([
    ["one member", {}],
    ["a gang", { gang: { size: 2 } }],
  ])("nobody is told when by the end of a notice there is room anyway: %s", (_, more) => {
    const turn = poolWith();
    book(turn, gpus(4, { durationMs: MINUTE }));
    book(turn, spot(4));
    expect(preemptible(turn, gpus(1, more))).toBeNull();
    expect(refused(tryBook(turn, gpus(1, more), { tenantId: "t-b" }))).toMatchObject({
      code: "NO_CAPACITY",
    });
    expect(noticed(turn)).toEqual([]);
    // More than what comes free by itself is had by telling somebody.
    expect(preemptible(turn, gpus(5))).toMatchObject({ count: 1 });
  });

  it("the lower offer priority goes first, then the younger", () => {
    const offer = (tenantId: string, priority: number) => ({
      tenantId,
      includeDescendants: false,
      priority,
    });
    const turn = poolWith({ offers: [offer("t-a", 0), offer("t-b", 9), offer("t-c", 0)] });
    const dear = book(turn, spot(4), { tenantId: "t-b" });
    const older = book(turn, spot(2));
    turn.moveTo(NOW + MINUTE);
    const younger = book(turn, spot(2), { tenantId: "t-c" });
    book(turn, gpus(2), { tenantId: "t-b" });
    expect(noticed(turn).map(({ id }) => id)).toEqual([younger.id]);
    expect(live(turn, older).state).toBe("active");
    expect(live(turn, dear).state).toBe("active");
  });

  it("a gang is one victim, and goes whole", () => {
    const turn = poolWith({}, 2);
    const gang = book(turn, spot(8, { gang: { size: 2 } }));
    book(turn, gpus(1), { tenantId: "t-b" });
    expect(noticed(turn).map(({ id }) => id)).toEqual([gang.id]);
    turn.moveTo(NOW + NOTICE);
    expect(turn.state.reservation(gang.id)).toBeUndefined();
  });
});

describe("the notice", () => {
  it("cuts the victim at its end, which is then preempted, and the newcomer begins there", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8), { leaseSeconds: 3_600 });
    const booked = book(turn, gpus(8), { tenantId: "t-b" });
    expect(live(turn, victim)).toMatchObject({
      state: "preempting",
      end: NOW + NOTICE,
      leaseExpiresAt: NOW + NOTICE,
      preemption: { noticeAt: NOW, endsAt: NOW + NOTICE },
    });
    turn.takeEvents();
    turn.moveTo(NOW + NOTICE);
    expect(turn.takeEvents()).toEqual(["reservation.preempted", "reservation.activated"]);
    expect(turn.state.reservation(victim.id)).toBeUndefined();
    expect(live(turn, booked)).toMatchObject({ state: "active", startedAt: NOW + NOTICE });
  });

  it("a victim whose fault lay after the cut is sound again, and is told so", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8));
    const window = { from: NOW + HOUR, to: NOW + 2 * HOUR };
    accepted(scheduleMaintenance(turn, { nodeId: nodeId(0), ...window }));
    expect(live(turn, victim).degraded).not.toBeNull();
    turn.takeEvents();
    book(turn, gpus(8, { durationMs: MINUTE }), { tenantId: "t-b" });
    expect(live(turn, victim)).toMatchObject({ state: "preempting", degraded: null });
    expect(turn.takeEvents()).toEqual([
      "reservation.preempting",
      "reservation.healed",
      "reservation.created",
    ]);
  });

  it("without a notice the victim ends and the newcomer begins at once", () => {
    const turn = poolWith({ policy: { spot: { noticeSeconds: 0 } } });
    const victim = book(turn, spot(8));
    const booked = book(turn, gpus(8), { tenantId: "t-b" });
    expect(turn.state.reservation(victim.id)).toBeUndefined();
    expect(booked).toMatchObject({ state: "active", start: NOW });
  });

  it("a victim that would not have begun by then ends at once; one that would is under notice", () => {
    const turn = poolWith();
    const late = book(turn, spot(4, { start: NOW + HOUR }));
    const soon = book(turn, spot(4, { start: NOW + MINUTE }));
    book(turn, gpus(8, { durationMs: 2 * HOUR }), { tenantId: "t-b" });
    expect(turn.state.reservation(late.id)).toBeUndefined();
    expect(live(turn, soon)).toMatchObject({ state: "preempting", startedAt: null });
    turn.moveTo(NOW + MINUTE);
    expect(live(turn, soon)).toMatchObject({ state: "preempting", startedAt: NOW + MINUTE });
    expect(turn.state.rollup()).toEqual(recountRollup(snapshotOf(turn), turn.now));
  });

  it("a future window is had by cutting at its start, and what ends before it stays", () => {
    const turn = poolWith();
    const before = book(turn, spot(8, { durationMs: HOUR }));
    const within = book(turn, spot(8, { start: NOW + HOUR, durationMs: 3 * HOUR }));
    const asked = NOW + 2 * HOUR;
    const booked = book(turn, gpus(8, { start: asked }), { tenantId: "t-b" });
    expect(booked.start).toBe(asked);
    expect(live(turn, before).state).toBe("active");
    expect(live(turn, within)).toMatchObject({ state: "preempting", end: asked });
  });

  it("one under notice may be renewed and released, not extended, and is not told again", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8), { leaseSeconds: 60 });
    book(turn, gpus(8), { tenantId: "t-b" });
    const ask = { reservationId: victim.id, tenantId: "t-a" };
    expect(accepted(renewReservation(turn, ask))).toMatchObject({ state: "preempting" });
    const longer = { ...ask, ancestors: [], end: NOW + 9 * HOUR };
    expect(refused(extendReservation(turn, longer))).toMatchObject({ code: "INVALID_STATE" });
    expect(refused(tryBook(turn, gpus(1), { tenantId: "t-c" }))).toMatchObject({
      code: "NO_CAPACITY",
    });
    expect(live(turn, victim).preemption?.noticeAt).toBe(NOW);
  });
});

describe("what is freed early", () => {
  it("is nobody's but the newcomer's, whose start does not move", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8));
    const booked = book(turn, gpus(6), { tenantId: "t-b" });
    accepted(releaseReservation(turn, { reservationId: victim.id, tenantId: "t-a" }));
    expect(live(turn, booked).start).toBe(NOW + NOTICE);
    // Two GPUs are really free; the six are kept, also for the minute before the newcomer begins.
    const short = { durationMs: MINUTE };
    expect(refused(tryBook(turn, gpus(3, short), { tenantId: "t-c" }))).toMatchObject({
      code: "NO_CAPACITY",
    });
    expect(tryBook(turn, gpus(2, short), { tenantId: "t-c" }).ok).toBe(true);
    turn.moveTo(NOW + NOTICE);
    expect(live(turn, booked)).toMatchObject({ state: "active", pins: [] });
  });

  it("is kept from the start of a victim that had not begun, not from before it", () => {
    const turn = poolWith();
    const running = book(turn, spot(8, { durationMs: MINUTE }), { tenantId: "t-c" });
    const victim = book(turn, spot(8, { start: NOW + MINUTE }));
    const booked = book(turn, gpus(8), { tenantId: "t-b" });
    expect(live(turn, victim)).toMatchObject({ state: "preempting", startedAt: null });
    accepted(releaseReservation(turn, { reservationId: victim.id, tenantId: "t-a" }));
    expect(live(turn, running).state).toBe("active");
    expect(live(turn, booked).pins).toMatchObject([{ from: NOW + MINUTE }]);
  });

  it("goes back to its victims when the newcomer is released before it begins", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8), { leaseSeconds: 3_600 });
    const booked = book(turn, gpus(8), { tenantId: "t-b" });
    turn.moveTo(NOW + MINUTE);
    turn.takeEvents();
    accepted(releaseReservation(turn, { reservationId: booked.id, tenantId: "t-b" }));
    expect(turn.takeEvents()).toEqual(["reservation.released", "reservation.reprieved"]);
    expect(live(turn, victim)).toMatchObject({
      state: "active",
      end: victim.end,
      preemption: null,
      endingSoonAt: victim.endingSoonAt,
    });
    expect(turn.state.rollup()).toEqual(recountRollup(snapshotOf(turn), turn.now));
  });

  it("stays cut when somebody else has taken its window meanwhile", () => {
    const turn = poolWith();
    const victim = book(turn, spot(8));
    const booked = book(turn, gpus(8, { durationMs: HOUR }), { tenantId: "t-b" });
    const after = NOW + NOTICE + HOUR;
    book(turn, gpus(1, { start: after, durationMs: MINUTE }), { tenantId: "t-c" });
    accepted(releaseReservation(turn, { reservationId: booked.id, tenantId: "t-b" }));
    expect(live(turn, victim)).toMatchObject({ state: "preempting", end: NOW + NOTICE });
  });

  it("stays cut when its tenant's quota is in use elsewhere meanwhile", () => {
    const quotas = ["t-a", "t-b"].map((tenantId) => quotaOf(tenantId, 8));
    const turn = poolWith({ quotas }, 2);
    const victim = book(turn, spot(8, allOf(0)));
    const booked = book(turn, gpus(8, allOf(0)), { tenantId: "t-b" });
    // The cut gave the quota back, and its tenant uses it on the other node from then on.
    book(turn, gpus(8, { ...allOf(1), start: NOW + NOTICE }));
    accepted(releaseReservation(turn, { reservationId: booked.id, tenantId: "t-b" }));
    expect(live(turn, victim).state).toBe("preempting");
  });
});

describe("taking it all back", () => {
  it("leaves every row as it was, those that ended without a notice included", () => {
    const turn = poolWith();
    book(turn, spot(4));
    book(turn, spot(4, { start: NOW + HOUR }));
    const before = [...turn.state.reservations()];
    const changes = turn.changes.length;
    book(turn, gpus(8, { durationMs: 2 * HOUR }), { tenantId: "t-b" });
    for (const change of turn.changes.splice(changes).reverse()) turn.state.revert(change);
    expect([...turn.state.reservations()].sort(byId)).toEqual(before.sort(byId));
  });
});

const byId = (a: Reservation, b: Reservation): number => (a.id < b.id ? -1 : 1);

function snapshotOf(turn: TestTurn): Parameters<typeof recountRollup>[0] {
  return {
    gateId: turn.state.gateId,
    config: turn.state.config,
    nodes: [...turn.state.nodes()],
    reservations: [...turn.state.reservations()],
    unitReservations: [...turn.state.unitReservations()],
    waiters: [...turn.state.waiting.all()],
  };
}
