/** Release, reclaim, spot bookings and the end of a term at once, through two servers on one database. */
import { randomBytes } from "node:crypto";
import { createPoolStore } from "@berth/db";
import type { PoolId } from "@berth/domain";
import { type Engine, createEngine } from "@berth/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Method } from "../../call.ts";
import { toApiError } from "../../errors.ts";
import { type Api, createApi } from "../../root.ts";
import { HOUR } from "../test-kit.ts";
import { type Fence, type Machine, UnitsApi, of } from "./test-kit.ts";

let it_: UnitsApi;
let engine: Engine;
let second: Api;
beforeAll(async () => {
  it_ = await UnitsApi.open();
  const { deps } = it_.api.test;
  const { db, log } = deps;
  const elapsed = () => performance.now();
  engine = createEngine({ store: createPoolStore(db), random: randomBytes, log, elapsed });
  second = createApi({ ...deps, engine });
});
afterAll(async () => {
  await engine.stop();
  await second.stop();
  await it_.close();
});

type Loose = Readonly<Record<string, unknown>>;

/** Through either server in turn; the error's code when it is refused. */
let turn = 0;
async function call(method: Method, input: Loose): Promise<Loose | string> {
  turn += 1;
  const { api, admin } = it_.api.test;
  const server = turn % 2 === 0 ? api : second;
  try {
    return (await server.invoke({
      method,
      rawInput: () => Promise.resolve(input),
      context: server.context({ token: admin, requestId: "race" }),
    })) as Loose;
  } catch (error) {
    return toApiError(error).code;
  }
}

async function market(gpus: number, given: Loose = {}): Promise<{ machine: Machine; made: Fence }> {
  const machine = await it_.machine(gpus);
  const made = await it_.fence(machine, { unitIds: machine.units, ...given });
  await it_.api.call("unitReservations.release", of(made));
  return { machine, made };
}

const spotOn = (machine: Machine, at: number, given: Loose = {}) =>
  call("reservations.create", {
    ...it_.wish(machine, at % 2 === 0 ? "t-b" : "t-c", { unitIds: [machine.units[at]] }),
    spot: true,
    ...given,
  });

async function liveIds(machine: Machine): Promise<string[]> {
  const ids: string[] = [];
  for (const tenantId of ["t-a", "t-b", "t-c"]) {
    const ask = { tenantId, poolId: machine.poolId, state: ["scheduled", "active"] };
    const { reservations } = await it_.api.call("reservations.list", ask);
    ids.push(...reservations.map(({ id }) => id));
  }
  return ids.toSorted();
}

describe("a reclaim", () => {
  it("ends the very reservations that its dry run named, with nothing in between", async () => {
    const { machine, made } = await market(6);
    await Promise.all(machine.units.map((_, at) => spotOn(machine, at)));
    const shown = (await call("unitReservations.reclaim", { ...of(made), dryRun: true })) as Fence;
    const done = (await call("unitReservations.reclaim", of(made))) as Fence;
    expect(done.terminated).toEqual(shown.wouldTerminate);
    expect(done.terminated).toHaveLength(6);
    expect(await liveIds(machine)).toEqual([]);
  });

  it("that races with spot bookings leaves none on the units: each was ended by it or refused after it", async () => {
    for (let round = 0; round < 4; round += 1) {
      const { machine, made } = await market(6);
      const [reclaimed, ...booked] = await Promise.all([
        call("unitReservations.reclaim", of(made)),
        ...machine.units.map((_, at) => spotOn(machine, at)),
      ]);
      const ids = booked.flatMap((one) => (typeof one === "string" ? [] : [String(one["id"])]));
      const refused = booked.filter((one) => typeof one === "string");
      expect((reclaimed as Fence).terminated).toEqual(ids.toSorted());
      expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? ["NO_CAPACITY"] : []));
      expect(await liveIds(machine)).toEqual([]);
    }
  });

  it("with a plan that was agreed to never ends more: a booking in between is a conflict or comes too late", async () => {
    for (let round = 0; round < 4; round += 1) {
      const { machine, made } = await market(2);
      await spotOn(machine, 0);
      const shown = (await call("unitReservations.reclaim", {
        ...of(made),
        dryRun: true,
      })) as Fence;
      const [reclaimed, booked] = await Promise.all([
        call("unitReservations.reclaim", { ...of(made), expect: shown.wouldTerminate }),
        spotOn(machine, 1),
      ]);
      if (reclaimed === "CONFLICT") expect(await liveIds(machine)).toHaveLength(2);
      else {
        expect((reclaimed as Fence).terminated).toEqual(shown.wouldTerminate);
        expect(booked).toBe("NO_CAPACITY");
      }
    }
  });

  it("made many times at once ends each reservation once", async () => {
    const { machine, made } = await market(4);
    await Promise.all(machine.units.map((_, at) => spotOn(machine, at)));
    const ids = await liveIds(machine);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call("unitReservations.reclaim", of(made))),
    );
    const ended = answers.flatMap((answer) => (answer as Fence).terminated ?? []);
    expect(ended.toSorted()).toEqual(ids);
  });
});

describe("at the end of a term", () => {
  it("release, reclaim, booking and end come one after the other, and the units are everyone's then", async () => {
    for (let round = 0; round < 3; round += 1) {
      const now = await it_.api.clock.now();
      const endsAt = new Date(now + HOUR).toISOString();
      const { machine, made } = await market(4, { endsAt });
      await spotOn(machine, 0, { duration: "3h" });
      const [released, reclaimed] = await Promise.all([
        call("unitReservations.release", of(made)),
        call("unitReservations.reclaim", { ...of(made), unitIds: machine.units.slice(1, 2) }),
        it_.api.clock.set(now + HOUR),
        spotOn(machine, 1, { duration: "3h" }),
        spotOn(machine, 2, { duration: "3h" }),
      ]);
      for (const answer of [released, reclaimed])
        expect(typeof answer === "string" ? answer : "OK").toMatch(/^(OK|INVALID_STATE)$/);
      expect(await it_.api.call("unitReservations.get", of(made))).toMatchObject({
        status: "expired",
      });
      expect((await liveIds(machine)).length).toBeGreaterThan(0);
      const wish = it_.wish(machine, "t-b", { unitIds: machine.units.slice(3) });
      expect(await it_.api.outcome("reservations.create", wish)).toMatchObject({ code: "OK" });
      expect(await engine.rebuild(machine.poolId as PoolId)).toEqual([]);
    }
  });
});

describe("setting the same units aside at once", () => {
  it("is done once; the others are a conflict that names the units", async () => {
    const machine = await it_.machine(2);
    const ask = { nodeId: machine.nodeId, unitIds: machine.units, allowedOrgIds: ["t-a"] };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => call("unitReservations.create", ask)),
    );
    expect(answers.filter((answer) => answer === "CONFLICT")).toHaveLength(11);
  });

  it("races with a stranger's booking of one: one of the two, never both", async () => {
    for (let round = 0; round < 4; round += 1) {
      const machine = await it_.machine(2);
      const ask = { nodeId: machine.nodeId, unitIds: machine.units, allowedOrgIds: ["t-a"] };
      const answers = await Promise.all([
        call("unitReservations.create", ask),
        call(
          "reservations.create",
          it_.wish(machine, "t-b", { unitIds: machine.units.slice(0, 1) }),
        ),
      ]);
      const refused = answers.filter((answer) => typeof answer === "string");
      expect(refused).toHaveLength(1);
      expect(["CONFLICT", "NO_CAPACITY"]).toContain(refused[0]);
    }
  });
});
