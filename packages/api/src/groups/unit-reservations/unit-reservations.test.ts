import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR, MINUTE, NOW } from "../test-kit.ts";
import { type Fence, type Machine, UnitsApi, of } from "./test-kit.ts";

let it_: UnitsApi;
beforeAll(async () => {
  it_ = await UnitsApi.open();
});
afterAll(() => it_.close());

const text = (time: number) => new Date(time).toISOString();
const soon = async (ahead: number) => text((await it_.api.clock.now()) + ahead);

describe("creating", () => {
  it("answers the seed's fields and no others: what there is none of is left out", async () => {
    const machine = await it_.machine(4);
    const made = await it_.fence(machine);
    expect(made).toEqual({
      id: expect.stringMatching(/^ursv_/),
      nodeId: machine.nodeId,
      status: "active",
      allowedOrgIds: ["platform", "t-a"],
      reservedUnitIds: machine.units.slice(0, 2),
      startsAt: text(NOW),
      topologyGen: 1,
      createdAt: text(NOW),
      updatedAt: text(NOW),
    });
  });

  it("takes times with any offset and answers them in UTC, to the millisecond", async () => {
    const machine = await it_.machine(4);
    const made = await it_.fence(machine, {
      managingOrgIds: ["t-m", "t-m"],
      startsAt: "2027-06-01T12:00:00.1239+02:00",
      endsAt: "2027-06-01t00:00:00-11:30",
      reason: "a contract",
      contractRef: "C-1",
    });
    expect(made).toMatchObject({
      status: "pending",
      managingOrgIds: ["t-m"],
      startsAt: "2027-06-01T10:00:00.123Z",
      endsAt: "2027-06-01T11:30:00.000Z",
      reason: "a contract",
      contractRef: "C-1",
    });
  });

  it("names the first unit at fault, each org that there is not, and the field of a bad time", async () => {
    const machine = await it_.machine(4);
    const other = await it_.machine(1);
    const plain = await it_.api.pool(1, 1);
    const { nodes } = await it_.api.call("fleet.listNodes", { tenantId: "t-own", poolId: plain });
    const noGroup = { nodeId: nodes[0]?.id, units: nodes[0]?.units.map(({ id }) => id) };
    const [u0, u1] = machine.units;
    const cases: [object, (string | number)[][]][] = [
      [{ unitIds: [] }, [["unitIds"]]],
      [{ unitIds: [u0, u0] }, [["unitIds", 1]]],
      [{ unitIds: [u0, other.units[0], u1, u1] }, [["unitIds", 1]]],
      [{ unitIds: ["gpu-0"] }, [["unitIds", 0]]],
      [{ nodeId: noGroup.nodeId, unitIds: noGroup.units }, [["unitIds", 0]]],
      [{ allowedOrgIds: [] }, [["allowedOrgIds"]]],
      [
        { allowedOrgIds: ["t-a", "t-none"], managingOrgIds: ["t-nowhere"] },
        [
          ["allowedOrgIds", 1],
          ["managingOrgIds", 0],
        ],
      ],
      [{ startsAt: "2027-06-01T12:00:00" }, [["startsAt"]]],
      [{ startsAt: "2027-02-30T12:00:00Z" }, [["startsAt"]]],
      [{ startsAt: 1_800_000_000_000 }, [["startsAt"]]],
      [{ startsAt: await soon(-MINUTE - 1) }, [["startsAt"]]],
      [{ endsAt: await soon(0) }, [["endsAt"]]],
      [{ startsAt: await soon(HOUR), endsAt: await soon(HOUR) }, [["endsAt"]]],
      [{ tenantId: "t-own" }, [["tenantId"]]],
    ];
    for (const [given, paths] of cases) {
      const { nodeId, units } = machine;
      const ask = { nodeId, unitIds: units, allowedOrgIds: ["t-a"], ...given };
      const { code, issues } = await it_.api.error("unitReservations.create", ask);
      expect([given, code, issues?.map(({ path }) => path)]).toEqual([
        given,
        "INVALID_INPUT",
        paths,
      ]);
    }
  });

  it("is a conflict with another one, naming units, and with a stranger's booking, naming it", async () => {
    const machine = await it_.machine(4);
    const [, u1, u2, u3] = machine.units;
    await it_.fence(machine);
    const ask = { nodeId: machine.nodeId, allowedOrgIds: ["t-a"] };
    const again = await it_.api.error("unitReservations.create", { ...ask, unitIds: [u2, u1] });
    expect(again).toMatchObject({ code: "CONFLICT", details: { kind: "overlap", ids: [u1] } });
    expect(again.message).toContain(u1);
    const wish = it_.wish(machine, "t-b", { unitIds: [u3] });
    const theirs = await it_.api.call("reservations.create", wish);
    const over = await it_.api.error("unitReservations.create", { ...ask, unitIds: [u3] });
    expect(over).toMatchObject({
      code: "CONFLICT",
      details: { kind: "overlap", ids: [theirs.id] },
    });
  });

  it("is possible on a node in no pool, which then joins exclusive pools only, with what is set aside", async () => {
    const machine = await it_.loose(2);
    const made = await it_.fence(machine);
    const { siteId } = it_.api;
    const slots = { tenantId: "t-own", siteId, class: "metal-host", sharing: "timeslice" };
    const { id: shared } = await it_.api.call("pools.create", slots);
    const join = (poolId: string | null) =>
      it_.api.outcome("fleet.assignNode", { nodeId: machine.nodeId, poolId });
    expect(await join(shared)).toMatchObject({ code: "INVALID_STATE" });
    const poolId = await it_.api.pool(0, 0);
    expect(await join(poolId)).toMatchObject({ code: "OK" });
    const inPool = { ...machine, poolId };
    expect(await it_.api.call("unitReservations.get", of(made))).toEqual(made);
    const wish = it_.wish(inPool, "t-b", { unitIds: machine.units.slice(0, 1) });
    expect(await it_.api.error("reservations.create", wish)).toMatchObject({ code: "NO_CAPACITY" });
    expect(await join(null)).toMatchObject({ code: "OK" });
    expect(await it_.api.call("unitReservations.cancel", of(made))).toMatchObject({
      status: "cancelled",
    });
    expect(await it_.api.outcome("fleet.removeNode", { nodeId: machine.nodeId })).toMatchObject({
      code: "OK",
    });
  });
});

describe("the audience", () => {
  it("books with an offer and within its quota, as ever: being in it gives neither", async () => {
    const machine = await it_.machine(3);
    await it_.fence(machine, { unitIds: machine.units, allowedOrgIds: ["t-a", "t-m"] });
    const [u0, u1] = machine.units;
    const code = async (tenant: string, unitIds: (string | undefined)[]) =>
      (await it_.api.outcome("reservations.create", it_.wish(machine, tenant, { unitIds }))).code;
    for (const method of ["pools.get", "capacity.byPool"] as const)
      expect(
        await it_.api.test.outcome(
          method,
          { tenantId: "t-m", poolId: machine.poolId },
          await it_.key("t-m"),
        ),
      ).toMatchObject({ code: "NOT_FOUND" });
    expect(await code("t-m", [u0])).toBe("NOT_FOUND");
    const offer = { tenantId: "t-own", poolId: machine.poolId, toTenantId: "t-a" };
    await it_.api.call("pools.offer", { ...offer, quota: { gpu: 1 } });
    expect(await code("t-a", [u0, u1])).toBe("QUOTA_EXCEEDED");
    expect(await code("t-a", [u0])).toBe("OK");
    expect(await code("t-a", [u1])).toBe("QUOTA_EXCEEDED");
    await it_.api.call("pools.unoffer", offer);
    expect(await code("t-a", [u1])).toBe("NOT_FOUND");
  });
});

describe("a term", () => {
  it("begins and ends at its instants, in every read, whoever reads first", async () => {
    const machine = await it_.machine(4);
    const made = await it_.fence(machine, {
      startsAt: await soon(HOUR),
      endsAt: await soon(2 * HOUR),
    });
    const seen = async (status: Fence["status"]) => {
      const got = await it_.api.call("unitReservations.get", of(made));
      const ask = { nodeId: machine.nodeId, status };
      const { reservations } = await it_.api.call("unitReservations.list", ask);
      expect([got.status, reservations.map(({ id }) => id)]).toEqual([status, [made.id]]);
    };
    await seen("pending");
    await it_.api.clock.advance(HOUR);
    await seen("active");
    await it_.api.clock.advance(HOUR);
    const { reservations } = await it_.api.call("unitReservations.list", { status: "expired" });
    expect(reservations.map(({ id }) => id)).toContain(made.id);
    await seen("expired");
  });

  it("is cancelled once; again answers it unchanged, and all else is the wrong time", async () => {
    const machine = await it_.machine(4);
    const made = await it_.fence(machine);
    const cancelled = await it_.api.call("unitReservations.cancel", of(made));
    expect(cancelled).toMatchObject({ status: "cancelled" });
    await it_.api.clock.advance(1);
    expect(await it_.api.call("unitReservations.cancel", of(made))).toEqual(cancelled);
    for (const method of ["release", "reclaim", "reaffirm"] as const)
      expect(await it_.api.error(`unitReservations.${method}`, of(made))).toMatchObject({
        code: "INVALID_STATE",
      });
  });
});

describe("the spot market", () => {
  /** Two units released, with a spot booking each: t-b's now, t-c's later. */
  async function market(): Promise<{ machine: Machine; made: Fence; ids: string[] }> {
    const machine = await it_.machine(4);
    const made = await it_.fence(machine, { managingOrgIds: ["t-m"] });
    const released = await it_.api.call("unitReservations.release", of(made));
    expect(released.releasedUnitIds).toEqual(machine.units.slice(0, 2));
    const now = await it_.api.clock.now();
    const ids: string[] = [];
    for (const [at, tenant] of ["t-b", "t-c"].entries()) {
      const start = now + at * HOUR;
      const unitIds = machine.units.slice(at, at + 1);
      const wish = it_.wish(machine, tenant, { unitIds, spot: true, start });
      ids.push((await it_.api.call("reservations.create", wish)).id);
    }
    return { machine, made, ids: ids.toSorted() };
  }

  it("is open to anybody as spot, and to nobody otherwise", async () => {
    const machine = await it_.machine(2);
    const made = await it_.fence(machine);
    await it_.api.call("unitReservations.release", {
      ...of(made),
      unitIds: machine.units.slice(1, 2),
    });
    const book = async (tenant: string, at: number, spot: boolean) => {
      const wish = it_.wish(machine, tenant, { unitIds: machine.units.slice(at, at + 1), spot });
      return (await it_.api.outcome("capacity.preview", wish)).output as { fits: boolean };
    };
    const fits = async (tenant: string, at: number, spot: boolean) =>
      (await book(tenant, at, spot)).fits;
    expect(await fits("t-b", 0, true)).toBe(false);
    expect(await fits("t-a", 0, false)).toBe(true);
    for (const tenant of ["t-a", "t-b"]) {
      expect(await fits(tenant, 1, false)).toBe(false);
      expect(await fits(tenant, 1, true)).toBe(true);
    }
  });

  it("is cleared by a reclaim, which does what its dry run said", async () => {
    const { made, ids } = await market();
    const shown = await it_.api.call("unitReservations.reclaim", { ...of(made), dryRun: true });
    expect(shown).toMatchObject({ wouldTerminate: ids, wouldSkip: [] });
    expect(shown).not.toHaveProperty("terminated");
    expect(await it_.api.call("unitReservations.get", of(made))).toMatchObject({
      releasedUnitIds: shown.releasedUnitIds,
    });
    const done = await it_.api.call("unitReservations.reclaim", {
      ...of(made),
      expect: shown.wouldTerminate,
    });
    expect(done).toMatchObject({ terminated: ids, skipped: [] });
    for (const absent of ["releasedUnitIds", "wouldTerminate", "wouldSkip"])
      expect(done).not.toHaveProperty(absent);
    for (const tenantId of ["t-b", "t-c"]) {
      const { reservations } = await it_.api.call("reservations.list", {
        tenantId,
        state: ["terminated"],
      });
      const [first] = reservations.filter(({ id }) => ids.includes(id));
      expect(first?.endReason).toBe("its units were taken back from the spot market");
    }
  });

  it("is left as it is when other bookings would end than the caller was shown", async () => {
    const { made, ids } = await market();
    const stale = { ...of(made), expect: ids.slice(0, 1) };
    for (const dryRun of [false, true])
      expect(await it_.api.error("unitReservations.reclaim", { ...stale, dryRun })).toMatchObject({
        code: "CONFLICT",
        details: { kind: "plan", plan: { wouldTerminate: ids, wouldSkip: [] } },
      });
    expect(await it_.api.call("unitReservations.get", of(made))).toMatchObject({
      releasedUnitIds: made.reservedUnitIds,
    });
  });

  it("names a unit that is not the reservation's", async () => {
    const { machine, made } = await market();
    const unitIds = [machine.units[0], machine.units[3]];
    for (const method of ["unitReservations.release", "unitReservations.reclaim"] as const)
      expect(await it_.api.error(method, { ...of(made), unitIds })).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["unitIds", 1] }],
      });
  });
});

describe("a change of the node's GPUs", () => {
  it("puts it up for review, and it is reaffirmed once all is there again", async () => {
    const machine = await it_.machine(3);
    const made = await it_.fence(machine);
    const { siteId } = it_.api;
    const { name } = await it_.api.call("fleet.getNode", {
      tenantId: "t-own",
      nodeId: machine.nodeId,
    });
    const whole = it_.report(name, 3);
    const put = (gpus: readonly object[]) =>
      it_.api.call("fleet.putNodes", { siteId, nodes: [{ ...whole, gpus }] });
    await put(whole.gpus.slice(1));
    expect(await it_.api.call("unitReservations.get", of(made))).toMatchObject({
      status: "needs-review",
      topologyGen: 1,
    });
    expect(await it_.api.error("unitReservations.reaffirm", of(made))).toMatchObject({
      code: "INVALID_STATE",
      message: expect.stringContaining(String(machine.units[0])),
    });
    await put(whole.gpus);
    const mine = it_.wish(machine, "t-a", { unitIds: machine.units.slice(0, 1) });
    expect(await it_.api.error("reservations.create", mine)).toMatchObject({ code: "NO_CAPACITY" });
    expect(await it_.api.call("unitReservations.reaffirm", of(made))).toMatchObject({
      status: "active",
      topologyGen: 3,
    });
    expect(await it_.api.outcome("reservations.create", mine)).toMatchObject({ code: "OK" });
  });
});

describe("a list", () => {
  it("comes in pages, newest first, each once; a bad cursor is INVALID_INPUT", async () => {
    const machine = await it_.machine(5);
    const made: string[] = [];
    for (const unit of machine.units) {
      made.unshift((await it_.fence(machine, { unitIds: [unit] })).id);
      await it_.api.clock.advance(1);
    }
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const ask = { nodeId: machine.nodeId, limit: 2, ...(cursor ? { cursor } : {}) };
      const page = await it_.api.call("unitReservations.list", ask);
      seen.push(...page.reservations.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(made);
    for (const given of [{ cursor: "x" }, { limit: 0 }, { limit: 201 }, { status: "gone" }])
      expect(await it_.api.error("unitReservations.list", given)).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: [Object.keys(given)[0]] }],
      });
  });
});
