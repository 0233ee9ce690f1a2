import { describe, expect, it } from "vitest";
import { HOUR, NOW, accepted, booking, refused, unitId } from "../reservations/test-kit.ts";
import { planReclaim, reclaimUnits } from "./reclaim.ts";
import { releaseUnits } from "./release.ts";
import { book, exactly, fencedTurn, of, setAside, units } from "./test-kit.ts";

describe("inside a term", () => {
  it("only the audience books the units", () => {
    const turn = fencedTurn(4);
    setAside(turn);
    expect(refused(book(turn, "t-b", exactly(units(0))))).toMatchObject({ code: "NO_CAPACITY" });
    expect(book(turn, "t-a", exactly(units(0))).ok).toBe(true);
    for (const index of [2, 3])
      expect(accepted(book(turn, "t-b")).members[0]?.unitIds).toEqual(units(index));
    expect(book(turn, "t-b").ok).toBe(false);
  });

  it("that lies ahead nobody else books into it", () => {
    const turn = fencedTurn(2);
    setAside(turn, { startsAt: NOW + HOUR });
    expect(book(turn, "t-b", exactly(units(0))).ok).toBe(true);
    expect(book(turn, "t-b", { ...exactly(units(1)), durationMs: HOUR + 1 }).ok).toBe(false);
  });

  it("a released unit is anybody's as spot, and nobody's otherwise", () => {
    const turn = fencedTurn(2);
    const made = setAside(turn);
    accepted(releaseUnits(turn, { ...of(made), unitIds: units(0) }));
    for (const tenant of ["t-a", "t-b"])
      expect(book(turn, tenant, exactly(units(0))).ok, tenant).toBe(false);
    expect(book(turn, "t-b", { ...exactly(units(0)), spot: true }).ok).toBe(true);
    expect(book(turn, "t-b", { ...exactly(units(1)), spot: true }).ok).toBe(false);
  });
});

describe("release", () => {
  it("puts all units on the market when it names none, and tells of those that were not there", () => {
    const turn = fencedTurn(4);
    const made = setAside(turn, { unitIds: units(0, 1, 2) });
    const one = accepted(releaseUnits(turn, { ...of(made), unitIds: units(1) }));
    expect(one.releasedUnitIds).toEqual(units(1));
    expect(accepted(releaseUnits(turn, of(made))).releasedUnitIds).toEqual(units(0, 1, 2));
    expect(turn.events.at(-1)?.views[0]?.data).toMatchObject({ unitIds: units(0, 2) });
    turn.takeEvents();
    accepted(releaseUnits(turn, of(made)));
    expect(turn.takeEvents()).toEqual([]);
  });

  it("names a unit that is not the reservation's, and one named twice", () => {
    const turn = fencedTurn(4);
    const made = setAside(turn);
    for (const unitIds of [units(0, 3), units(0, 0)])
      for (const call of [releaseUnits, reclaimUnits])
        expect(refused(call(turn, { ...of(made), unitIds }))).toMatchObject({
          code: "INVALID_INPUT",
          issues: [{ path: ["unitIds", 1] }],
        });
  });
});

describe("reclaim", () => {
  /** GPUs 0, 1 and 2 released, then booked: 0 now, 1 and 3 later, 2 by a booking that is not spot. */
  function market() {
    const turn = fencedTurn(4);
    const made = setAside(turn, { unitIds: units(0, 1, 2) });
    const regular = accepted(book(turn, "t-a", exactly(units(2))));
    accepted(releaseUnits(turn, of(made)));
    const now = accepted(book(turn, "t-b", { ...exactly(units(0)), spot: true }));
    const later = { start: NOW + 5 * HOUR, spot: true };
    const wide = accepted(book(turn, "t-c", { ...exactly(units(1, 3)), ...later }));
    turn.takeEvents();
    return { turn, made, regular, now, wide };
  }

  it("ends every spot booking on the units as a whole, begun or not, and lists what runs on", () => {
    const { turn, made, regular, now, wide } = market();
    const done = accepted(reclaimUnits(turn, of(made)));
    expect(done.plan).toEqual({ terminate: [now.id, wide.id].toSorted(), skip: [regular.id] });
    expect(done.reservation.releasedUnitIds).toEqual([]);
    expect([...turn.state.reservations()]).toEqual([regular]);
    expect(turn.state.bookingsOf(unitId(0, 3))).toEqual([]);
    expect(turn.takeEvents()).toEqual([
      "unitReservation.reclaimed",
      "reservation.terminated",
      "reservation.terminated",
    ]);
  });

  it("of some units leaves the others on the market, with what is on them", () => {
    const { turn, made, now, wide } = market();
    const done = accepted(reclaimUnits(turn, { ...of(made), unitIds: units(0) }));
    expect(done.plan).toEqual({ terminate: [now.id], skip: [] });
    expect(done.reservation.releasedUnitIds).toEqual(units(1, 2));
    expect(turn.state.reservation(wide.id)).toEqual(wide);
  });

  it("does exactly what its plan said, and nothing when the caller agreed to another", () => {
    const { turn, made } = market();
    const { plan } = accepted(planReclaim(turn.state, of(made)));
    const expected = [...plan.terminate].toReversed();
    const other = accepted(reclaimUnits(turn, { ...of(made), expect: expected.slice(1) }));
    expect(other).toMatchObject({ agreed: false, plan });
    expect(turn.takeEvents()).toEqual([]);
    expect(accepted(reclaimUnits(turn, { ...of(made), expect: expected })).plan).toEqual(plan);
  });

  it("again, and of units that are not on the market, does nothing", () => {
    const { turn, made } = market();
    accepted(reclaimUnits(turn, of(made)));
    turn.takeEvents();
    const done = accepted(reclaimUnits(turn, of(made)));
    expect(done).toMatchObject({ agreed: true, plan: { terminate: [], skip: [] } });
    expect(turn.takeEvents()).toEqual([]);
  });

  it("leaves alone what is booked outside the term", () => {
    const turn = fencedTurn(1);
    const before = accepted(book(turn, "t-b", { ...exactly(units(0)), spot: true }));
    const made = setAside(turn, { unitIds: units(0), startsAt: before.end });
    accepted(releaseUnits(turn, of(made)));
    expect(accepted(reclaimUnits(turn, of(made))).plan).toEqual({ terminate: [], skip: [] });
    expect(turn.state.reservation(before.id)).toEqual(before);
  });
});

describe("the events of a unit reservation", () => {
  it("go to its operator, the node's owner and the managing orgs, and name no org and no booking", () => {
    const turn = fencedTurn(2);
    const made = setAside(turn, { managingOrgIds: ["t-m"] });
    accepted(releaseUnits(turn, of(made)));
    turn.apply({
      kind: "reservation",
      before: null,
      after: booking({ tenantId: "t-b", spot: true }),
    });
    accepted(reclaimUnits(turn, of(made)));
    const events = turn.events.filter(({ type }) => type.startsWith("unitReservation."));
    expect(events).toHaveLength(3);
    for (const { views } of events) {
      expect(views.map(({ tenantId }) => tenantId).toSorted()).toEqual([
        "platform",
        "t-m",
        "t-own",
      ]);
      expect(JSON.stringify(views.map(({ data }) => data))).not.toMatch(/"(t-a|t-b|rsv_)/);
    }
  });
});
