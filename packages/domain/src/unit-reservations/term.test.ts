import { describe, expect, it } from "vitest";
import type { Unit } from "../model.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  gpuPool,
  nodeId,
  refused,
  turnOn,
  unitId,
} from "../reservations/test-kit.ts";
import { createUnitReservation } from "./create.ts";
import { cancelUnitReservation } from "./end.ts";
import { reclaimUnits } from "./reclaim.ts";
import { releaseUnits } from "./release.ts";
import { reaffirmUnitReservation } from "./review.ts";
import {
  PLATFORM,
  book,
  exactly,
  fencedNode,
  fencedTurn,
  of,
  setAside,
  standing,
  termAskOf,
  units,
} from "./test-kit.ts";

describe("setting units aside", () => {
  it("starts now without an end, and names the platform's org in its audience", () => {
    const turn = fencedTurn(4);
    expect(setAside(turn)).toMatchObject({
      status: "active",
      startsAt: NOW,
      endsAt: null,
      allowedOrgIds: [PLATFORM, "t-a"],
      unitIds: units(0, 1),
      releasedUnitIds: [],
      topologyGen: 1,
    });
    expect(turn.takeEvents()).toEqual(["unitReservation.created"]);
  });

  const part: Partial<Unit> = { class: "gpu.mig", parentUnitId: unitId(0, 0) };
  const offenders: Record<string, [Partial<Unit>, RegExp]> = {
    "a part of a GPU": [part, /is a gpu.mig/],
    "a network function": [{ class: "nic.vf" }, /is a nic.vf/],
    "a GPU without a VFIO group": [{ vfioGroup: null }, /no VFIO group/],
    "a GPU that is no longer reported": [{ removed: true }, /no longer reported/],
  };
  for (const [name, [given, message]] of Object.entries(offenders))
    it(`names ${name} as the first offender`, () => {
      const node = fencedNode(4);
      const wrong = node.units.map((unit, at) => (at === 2 ? { ...unit, ...given } : unit));
      const turn = turnOn({ ...gpuPool(0, 0), nodes: [{ ...node, units: wrong }] });
      const ask = termAskOf({ unitIds: units(0, 2, 3) });
      expect(refused(createUnitReservation(turn, ask))).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["unitIds", 1], message: expect.stringMatching(message) }],
      });
      expect(turn.changes).toEqual([]);
    });

  it("names a unit of another node, one named twice, and a GPU that its pool shares out", () => {
    const { units: gpus, ...node } = fencedNode(1);
    const shared = turnOn({
      ...gpuPool(0, 0, { sharing: "timeslice" }),
      nodes: [{ ...node, units: [], gpus }],
    });
    const asks: [TestTurn, string[], number][] = [
      [fencedTurn(2), [unitId(0, 0), unitId(1, 0)], 1],
      [fencedTurn(2), [unitId(0, 0), unitId(0, 1), unitId(0, 0)], 2],
      [shared, [unitId(0, 0)], 0],
    ];
    for (const [turn, unitIds, at] of asks)
      expect(
        refused(createUnitReservation(turn, termAskOf({ unitIds: unitIds as Unit["id"][] }))),
      ).toMatchObject({ code: "INVALID_INPUT", issues: [{ path: ["unitIds", at] }] });
  });

  it("forgives a start up to a minute past, and no more; its end is after its start and not past", () => {
    const turn = fencedTurn(4);
    expect(setAside(turn, { startsAt: NOW - MINUTE })).toMatchObject({ startsAt: NOW });
    const wrong: [number | null, number | null, string][] = [
      [NOW - MINUTE - 1, null, "startsAt"],
      [NOW + HOUR, NOW + HOUR, "endsAt"],
      [null, NOW, "endsAt"],
      [NOW - MINUTE, NOW - 1, "endsAt"],
    ];
    for (const [startsAt, endsAt, field] of wrong)
      expect(
        refused(createUnitReservation(turn, termAskOf({ unitIds: units(3), startsAt, endsAt }))),
      ).toMatchObject({ code: "INVALID_INPUT", issues: [{ path: [field] }] });
  });

  it("is possible on a node in no pool", () => {
    const turn = turnOn({
      ...gpuPool(0, 0),
      gateId: nodeId(0),
      config: null,
      nodes: [fencedNode(2)],
    });
    expect(setAside(turn).status).toBe("active");
  });
});

describe("a term", () => {
  const [T, H] = [NOW + 10 * HOUR, HOUR];
  const others: Record<string, [number, number | null, boolean]> = {
    "the same": [T, T + H, false],
    "one inside": [T + 1, T + H - 1, false],
    "one around it": [T - 1, T + H + 1, false],
    "one that meets its head by a millisecond": [T - H, T + 1, false],
    "one that meets its tail by a millisecond": [T + H - 1, T + 2 * H, false],
    "an open one before it": [T - H, null, false],
    "one that ends as it begins": [T - H, T, true],
    "one that begins as it ends": [T + H, T + 2 * H, true],
    "an open one that begins as it ends": [T + H, null, true],
  };
  for (const [name, [startsAt, endsAt, granted]] of Object.entries(others))
    it(`${granted ? "leaves room for" : "excludes"} ${name}`, () => {
      const turn = fencedTurn(4);
      setAside(turn, { startsAt: T, endsAt: T + H });
      const ask = termAskOf({ unitIds: units(1, 2), startsAt, endsAt });
      const made = createUnitReservation(turn, ask);
      expect(made.ok).toBe(granted);
      if (!made.ok)
        expect(made.refusal).toMatchObject({
          code: "CONFLICT",
          kind: "overlap",
          ids: units(1),
          message: expect.stringContaining(unitId(0, 1)),
        });
    });

  it("without an end excludes every later one, and is free again once it is cancelled", () => {
    const turn = fencedTurn(4);
    const open = setAside(turn);
    const later = termAskOf({ startsAt: NOW + 1_000 * H, endsAt: null });
    expect(refused(createUnitReservation(turn, later))).toMatchObject({ code: "CONFLICT" });
    accepted(cancelUnitReservation(turn, of(open)));
    expect(createUnitReservation(turn, later).ok).toBe(true);
  });

  it("is refused over a booking of a tenant outside the audience, which is named, and over no other", () => {
    const turn = fencedTurn(4);
    const theirs = accepted(book(turn, "t-b", exactly(units(0))));
    accepted(book(turn, "t-a", exactly(units(1))));
    expect(refused(createUnitReservation(turn, termAskOf()))).toMatchObject({
      code: "CONFLICT",
      kind: "overlap",
      ids: [theirs.id],
    });
    setAside(turn, { startsAt: theirs.end });
  });

  it("begins and ends by itself, each told once and dated by its own instant", () => {
    const turn = fencedTurn(4);
    const made = setAside(turn, { startsAt: NOW + H, endsAt: NOW + 2 * H });
    expect(made.status).toBe("pending");
    turn.moveTo(NOW + H);
    expect(standing(turn, made)).toMatchObject({ status: "active", updatedAt: NOW + H });
    turn.moveTo(NOW + 3 * H);
    expect(standing(turn, made)).toBeUndefined();
    const last = turn.changes.at(-1);
    expect(last?.after).toMatchObject({ status: "expired", endedAt: NOW + 2 * H });
    expect(turn.takeEvents()).toEqual([
      "unitReservation.created",
      "unitReservation.activated",
      "unitReservation.expired",
    ]);
  });

  it("that came and went unseen is begun and ended in order", () => {
    const turn = fencedTurn(4);
    setAside(turn, { startsAt: NOW + 1, endsAt: NOW + 2 });
    turn.moveTo(NOW + HOUR);
    expect(turn.takeEvents()).toEqual([
      "unitReservation.created",
      "unitReservation.activated",
      "unitReservation.expired",
    ]);
  });

  it("that ends gives its units to everyone; spot bookings on them live on", () => {
    for (const end of ["expires", "is cancelled"]) {
      const turn = fencedTurn(2);
      const made = setAside(turn, { endsAt: NOW + HOUR });
      accepted(releaseUnits(turn, of(made)));
      const spot = accepted(
        book(turn, "t-b", { ...exactly(units(0)), spot: true, durationMs: 3 * HOUR }),
      );
      if (end === "expires") turn.moveTo(NOW + HOUR);
      else accepted(cancelUnitReservation(turn, of(made)));
      expect(turn.state.reservation(spot.id)).toEqual(spot);
      expect(book(turn, "t-c", exactly(units(1))).ok).toBe(true);
    }
  });

  it("that is over answers null to a second cancel, and is the wrong time for everything else", () => {
    const turn = fencedTurn(2);
    const made = setAside(turn);
    accepted(cancelUnitReservation(turn, of(made)));
    expect(accepted(cancelUnitReservation(turn, of(made)))).toBeNull();
    for (const call of [releaseUnits, reclaimUnits, reaffirmUnitReservation])
      expect(refused(call(turn, of(made)))).toMatchObject({ code: "INVALID_STATE" });
  });
});
