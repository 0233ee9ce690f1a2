/** Several members, whole nodes and ring-fenced units by example. */
import { describe, expect, test } from "vitest";
import type { UnitId } from "../ids.ts";
import type { UnitReservation } from "../claims.ts";
import type { Node, PlaceRequest, PoolPolicy, Reservation } from "../model.ts";
import { NO_SCALARS } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildMaintenance,
  buildNode,
  buildRequest,
  buildReservation,
  buildSharedNode,
  buildSnapshot,
  buildUnitReservation,
} from "../testing/index.ts";
import { earliestStart, earliestStartSteps } from "./earliest-start.ts";
import { extension } from "./extend.ts";
import { place } from "./place.ts";
import type { Placement, PlaceOptions } from "./place.ts";

const gpus = (node: Node, from: number, count: number): UnitId[] =>
  node.units.slice(from, from + count).map((unit) => unit.id);

let serial = 0;
const book = (
  node: Node,
  unitIds: readonly UnitId[],
  window = { start: 0, end: 10 },
): Reservation => buildReservation((serial += 1), { node, unitIds }, window);

interface Given {
  readonly booked?: readonly Reservation[];
  readonly fences?: readonly UnitReservation[];
  readonly policy?: PoolPolicy;
}

function stateOf(nodes: readonly Node[], given: Given = {}): PoolState {
  const snapshot = buildSnapshot(nodes, given.booked ?? [], buildConfig(given.policy ?? {}));
  return PoolState.load({ ...snapshot, unitReservations: given.fences ?? [] });
}

const gang = (size: number, count: number, more: Partial<PlaceRequest> = {}): PlaceRequest =>
  buildRequest({ gang: { size }, devices: [{ class: "gpu", count }], ...more });

const onOneRack = (size: number, count: number): PlaceRequest =>
  gang(size, count, { gang: { size, topologyKey: "rack" } });

/** Members as node names; throws the reason when it does not fit. */
function names(placement: Placement): string[] {
  if (!placement.fits) throw new Error(placement.reason.message);
  return placement.members.map((member) => member.nodeName);
}

function reasonOf(state: PoolState, request: PlaceRequest, options: PlaceOptions = {}) {
  const placement = place(state, request, options);
  if (placement.fits) throw new Error("it fits");
  return placement.reason;
}

const rack = (n: number, label: string, count = 8): Node =>
  buildNode(n, { gpus: count }, { labels: { rack: label } });

describe("a gang", () => {
  test("on 8 and 6 free GPUs has room for one of two members, and the reason says so and what lacks", () => {
    const [a, b] = [buildNode(0), buildNode(1)];
    const state = stateOf([a, b], { booked: [book(b, gpus(b, 0, 2))] });
    expect(reasonOf(state, gang(2, 8))).toEqual({
      code: "BUSY",
      message:
        "a gang of 2 with 8 gpu each: 1 of 2 nodes is booked in this window, 1 has room for 1 of 2 members in all, short of gpu",
      blocked: [
        { cause: "BUSY", nodes: 1 },
        { cause: "GANG", nodes: 1 },
      ],
    });
    expect(names(place(state, gang(2, 6)))).toEqual(["n0", "n1"]);
    expect(names(place(state, gang(3, 4)))).toEqual(["n0", "n0", "n1"]);
  });

  test("is placed whole or not at all, with a candidate a member and no unit twice", () => {
    const nodes = [0, 1, 2, 3].map((n) => buildNode(n));
    const placement = place(stateOf(nodes), gang(4, 8));
    expect(names(placement)).toEqual(["n0", "n1", "n2", "n3"]);
    if (!placement.fits) return;
    expect(new Set(placement.members.flatMap(({ unitIds }) => unitIds)).size).toBe(32);
    expect(placement.candidates).toEqual(placement.members);
    const refusal = reasonOf(stateOf(nodes), gang(5, 8));
    expect(refusal.code).toBe("GANG");
    expect(refusal.message).toBe(
      "a gang of 5 with 8 gpu each: 4 of 4 nodes have room for 4 of 5 members in all, short of gpu",
    );
  });

  test("members share a node as far as its scalars go", () => {
    const node = buildNode(0);
    const resources = { ...NO_SCALARS, vcpu: 40 };
    expect(names(place(stateOf([node]), gang(2, 1, { resources })))).toEqual(["n0", "n0"]);
    expect(reasonOf(stateOf([node]), gang(3, 1, { resources })).message).toBe(
      "a gang of 3 with 1 gpu + 40 vcpu each: 1 of 1 nodes has room for 2 of 3 members in all, short of vcpu",
    );
  });

  test("takes the tightest rack that holds it, or the roomiest where the pool spreads", () => {
    const wide = [0, 1, 2].map((n) => rack(n, "wide"));
    const tight = [3, 4].map((n) => rack(n, "tight"));
    const nodes = [...wide, ...tight, rack(5, "small"), buildNode(6)];
    expect(names(place(stateOf(nodes), onOneRack(2, 8)))).toEqual(["n3", "n4"]);
    const spread = stateOf(nodes, { policy: { placement: "spread" } });
    expect(names(place(spread, onOneRack(2, 8)))).toEqual(["n0", "n1"]);
    expect(names(place(stateOf(nodes), onOneRack(3, 8)))).toEqual(["n0", "n1", "n2"]);
    expect(reasonOf(stateOf(nodes), onOneRack(4, 8))).toMatchObject({
      code: "GANG",
      message:
        "a gang of 4 with 8 gpu each on one rack: 6 of 7 nodes have room for 3 of 4 members at most on one rack, short of gpu, 1 has no label rack",
    });
  });

  test("takes the rack where it leaves the least in pieces", () => {
    const [whole, half] = [rack(0, "whole"), rack(1, "half")];
    const state = stateOf([whole, half], { booked: [book(half, gpus(half, 0, 4))] });
    expect(names(place(state, onOneRack(2, 2)))).toEqual(["n1", "n1"]);
  });

  test("with linked lines that compete for a domain is counted by search, not by the first choice", () => {
    // Two domains of 4 and 6; a member wants 3 linked and 2 anywhere: two members use both domains up.
    const units = buildNode(0, { gpus: 10 }).units.map((unit, i) => {
      return { ...unit, nvlinkDomain: i < 4 ? "small" : "large" };
    });
    const node = buildNode(0, {}, { units });
    const linked = { class: "gpu" as const, count: 3, topology: "nvlink-all" as const };
    const devices = [linked, { class: "gpu" as const, count: 2 }];
    const state = stateOf([node]);
    expect(names(place(state, buildRequest({ devices, gang: { size: 2 } })))).toEqual(["n0", "n0"]);
    expect(reasonOf(state, buildRequest({ devices, gang: { size: 3 } })).message).toContain(
      "1 of 1 nodes has room for 2 of 3 members in all, short of gpu",
    );
    const three = [linked, { ...linked, count: 2 }];
    expect(names(place(state, buildRequest({ devices: three, gang: { size: 2 } })))).toHaveLength(
      2,
    );
  });

  test("64 members on 63 free nodes are refused at once, as is the search for a later start", () => {
    const nodes = Array.from({ length: 64 }, (_, n) => buildNode(n));
    const last = nodes[63] as Node;
    const forever = { start: 0, end: 1_000 };
    const state = stateOf(nodes, { booked: [book(last, gpus(last, 0, 1), forever)] });
    expect(reasonOf(state, gang(64, 8)).blocked).toEqual([
      { cause: "GANG", nodes: 63 },
      { cause: "BUSY", nodes: 1 },
    ]);
    const { at } = earliestStart(state, gang(64, 8), { horizonEnd: 2_000, stepBudget: 400 });
    expect(at).toBe(1_000);
  });
});

describe("whole nodes", () => {
  const whole = (count: number, more: Partial<PlaceRequest> = {}): PlaceRequest =>
    buildRequest({ binding: "node", devices: [{ class: "node", count }], ...more });

  test("are taken with every unit, the ones with the fewest GPUs first, those without GPUs last", () => {
    const nodes = [
      buildNode(0),
      buildNode(1, { gpus: 4, vfs: 2 }),
      buildNode(2, { gpus: 0, disks: 1 }),
    ];
    const placement = place(stateOf(nodes), whole(1));
    expect(placement.fits && placement.candidates.map((c) => c.nodeName)).toEqual([
      "n1",
      "n0",
      "n2",
    ]);
    expect(placement.fits && placement.members[0]?.unitIds).toEqual(
      nodes[1]?.units.map((unit) => unit.id),
    );
    expect(names(place(stateOf(nodes), whole(2)))).toEqual(["n0", "n1"]);
    expect(names(place(stateOf(nodes), whole(1), { fewestGpus: true }))).toEqual(["n2"]);
  });

  test("are none where any unit is booked, faulty or gone, or where there is no unit", () => {
    const faulty = buildNode(1);
    const nodes = [
      buildNode(0),
      { ...faulty, units: faulty.units.map((u, i) => ({ ...u, healthy: i > 0 })) },
      buildNode(2, { gpus: 0 }),
      buildNode(3, {}, { state: "maintenance" }),
    ];
    const [busy] = nodes as [Node];
    expect(reasonOf(stateOf(nodes, { booked: [book(busy, gpus(busy, 7, 1))] }), whole(1))).toEqual({
      code: "NODE_STATE",
      message:
        "1 whole node: 1 of 4 nodes is not ready, 1 has faulty units, 1 has GPUs without a unit, or no units at all, 1 is booked in this window",
      blocked: [
        { cause: "NODE_STATE", nodes: 1 },
        { cause: "UNHEALTHY", nodes: 1 },
        { cause: "COUNT", nodes: 1 },
        { cause: "BUSY", nodes: 1 },
      ],
    });
    expect(reasonOf(stateOf(nodes), whole(2)).message).toContain(
      "1 has room for 1 of 2 nodes in all, short of free nodes",
    );
  });

  test("of a slot pool come with all slots, not with a broken GPU, nor with one that no slot stands for", () => {
    const config = buildConfig({}, { sharing: "timeslice" });
    const [a, b, uncut] = [
      buildSharedNode(0, [2, 2]),
      buildSharedNode(1, [2, 2]),
      buildSharedNode(2, [2, 0]),
    ];
    const broken = { ...b, gpus: b.gpus.map((gpu, i) => ({ ...gpu, healthy: i !== 1 })) };
    const state = PoolState.load(buildSnapshot([a, broken, uncut], [], config));
    expect(names(place(state, whole(1)))).toEqual(["n0"]);
    expect(reasonOf(state, whole(2)).blocked).toEqual([
      { cause: "UNHEALTHY", nodes: 1 },
      { cause: "COUNT", nodes: 1 },
      { cause: "GANG", nodes: 1 },
    ]);
  });

  test("in a gang are one a member, on one rack", () => {
    const nodes = [rack(0, "a"), rack(1, "b"), rack(2, "b")];
    const request = whole(1, { gang: { size: 2, topologyKey: "rack" } });
    expect(names(place(stateOf(nodes), request))).toEqual(["n1", "n2"]);
  });
});

describe("a ring-fenced unit", () => {
  const node = buildNode(0, { gpus: 2 });
  const [first] = gpus(node, 0, 1) as [UnitId];
  const fence = (more: Partial<UnitReservation> = {}): UnitReservation =>
    buildUnitReservation(1, { nodeId: node.id, unitIds: [first], ...more });
  const two = (more: Partial<PlaceRequest> = {}): PlaceRequest =>
    buildRequest({ devices: [{ class: "gpu", count: 2 }], ...more });
  const named = (more: Partial<PlaceRequest> = {}): PlaceRequest =>
    buildRequest({
      devices: [{ class: "gpu", count: 1, selector: { unitIds: [first] } }],
      ...more,
    });

  test("is booked for strangers, withheld for who may know, and free for its audience", () => {
    const state = stateOf([node], { fences: [fence({ allowedOrgIds: ["t-own", "t-b"] })] });
    expect(reasonOf(state, two()).code).toBe("BUSY");
    expect(reasonOf(state, two(), { showWithheld: true })).toMatchObject({
      code: "WITHHELD",
      message: "2 gpu: 1 of 1 nodes has units that are reserved for others",
    });
    expect(place(state, two({ tenantId: "t-b" })).fits).toBe(true);
  });

  test("named by a stranger is like an unknown id, in the reason and in the search for a later start", () => {
    const state = stateOf([node], { fences: [fence({ endsAt: 20 })] });
    const unknown = buildRequest({
      devices: [
        { class: "gpu", count: 1, selector: { unitIds: ["unit_ffffffffffffffffffffffffff"] } },
      ],
    });
    expect(place(state, named())).toEqual(place(state, unknown));
    const options = { horizonEnd: 100 };
    expect(earliestStart(state, named(), options)).toEqual(earliestStart(state, unknown, options));
    expect(reasonOf(state, named(), { showWithheld: true }).code).toBe("WITHHELD");
    expect(earliestStart(state, two(), options).at).toBe(20);
    expect(place(state, named({ tenantId: "t-own" })).fits).toBe(true);
  });

  test("that was released is for spot bookings of anyone, and for nothing else, its audience included", () => {
    const state = stateOf([node], { fences: [fence({ releasedUnitIds: [first] })] });
    expect(place(state, named({ spot: true })).fits).toBe(true);
    expect(reasonOf(state, named()).code).toBe("BUSY");
    expect(reasonOf(state, named({ tenantId: "t-own" })).code).toBe("BUSY");
  });

  test("is nobody's while its reservation needs a review", () => {
    const review = fence({ status: "needs-review", releasedUnitIds: [first] });
    const state = stateOf([node], { fences: [review] });
    expect(reasonOf(state, named({ tenantId: "t-own" })).code).toBe("BUSY");
    expect(reasonOf(state, named({ spot: true })).code).toBe("SELECTOR");
  });

  test("that is also in maintenance and broken is free only when all three are over", () => {
    const maintenance = [buildMaintenance(1, { start: 0, end: 30 })];
    const bare = buildNode(0, { gpus: 1 }, { maintenance });
    const unitIds = gpus(bare, 0, 1);
    const own = buildUnitReservation(1, { nodeId: bare.id, unitIds, endsAt: 20 });
    const state = stateOf([bare], { fences: [own] });
    const at = (end: number) => {
      const fences = [{ ...own, endsAt: end }];
      return earliestStart(stateOf([bare], { fences }), buildRequest(), { horizonEnd: 99 }).at;
    };
    expect([at(20), at(40)]).toEqual([30, 40]);
    expect(place(state, buildRequest({ start: 20, end: 25 })).fits).toBe(false);
    const sick = { ...bare, units: bare.units.map((unit) => ({ ...unit, healthy: false })) };
    state.apply({ kind: "node", before: bare, after: sick });
    expect(earliestStart(state, buildRequest(), { horizonEnd: 99 }).at).toBeNull();
  });

  test("stops an extension of a stranger's booking at its term, and a maintenance on any member's node does", () => {
    const other = buildNode(
      1,
      { gpus: 1 },
      { maintenance: [buildMaintenance(2, { start: 30, end: 31 })] },
    );
    const members = [node, other].map((at, index) => {
      return { index, nodeId: at.id, unitIds: gpus(at, 0, 1), resources: NO_SCALARS };
    });
    const held = { ...book(node, [first]), members, gang: { size: 2 } };
    const later = fence({ status: "pending", startsAt: 15 });
    const extended = (fences: UnitReservation[]) =>
      extension(stateOf([node, other], { booked: [held], fences }), held, 50);
    expect(extended([])).toMatchObject({ latestEnd: 30, reason: { code: "MAINTENANCE" } });
    expect(extended([later])).toMatchObject({
      latestEnd: 15,
      reason: {
        code: "MAINTENANCE",
        blocked: [
          { cause: "MAINTENANCE", nodes: 1 },
          { cause: "BUSY", nodes: 1 },
        ],
      },
    });
  });
});

describe("the earliest start of a gang", () => {
  test("is when enough nodes of one rack are free together", () => {
    const nodes = [rack(0, "a"), rack(1, "a"), rack(2, "b"), rack(3, "b")];
    const until = [40, 10, 20, 30];
    const booked = nodes.map((node, n) =>
      book(node, gpus(node, 0, 8), { start: 0, end: until[n] ?? 0 }),
    );
    const state = stateOf(nodes, { booked });
    const options = { horizonEnd: 100 };
    expect(earliestStart(state, onOneRack(2, 8), options)).toEqual({ at: 30, searchedTo: 30 });
    expect(earliestStart(state, gang(2, 8), options).at).toBe(20);
    expect(earliestStart(state, onOneRack(2, 8), { horizonEnd: 29 })).toEqual({
      at: null,
      searchedTo: 29,
    });
    expect(earliestStart(state, onOneRack(3, 8), options)).toEqual({ at: null, searchedTo: 100 });
  });

  test("waits for scalars where only they are short", () => {
    const node = buildNode(0, {}, { scalars: { ...NO_SCALARS, vcpu: 4 } });
    const ask = (vcpu: number) => ({ resources: { ...NO_SCALARS, vcpu } });
    const held = (end: number): Reservation => ({
      ...book(node, gpus(node, end / 10, 1), { start: 0, end }),
      ...ask(1),
      members: [{ index: 0, nodeId: node.id, unitIds: gpus(node, end / 10, 1), ...ask(1) }],
    });
    const state = stateOf([node], { booked: [held(20), held(30)] });
    const at = (size: number) => earliestStart(state, gang(size, 1, ask(1)), { horizonEnd: 99 }).at;
    expect([at(2), at(3), at(4), at(5)]).toEqual([0, 20, 30, null]);
  });

  test("is searched in pieces, anew when the state changed meanwhile", () => {
    const nodes = Array.from({ length: 400 }, (_, n) => buildNode(n, { gpus: 1 }));
    const booked = nodes.map((node, n) => book(node, gpus(node, 0, 1), { start: 0, end: 50 + n }));
    const state = stateOf(nodes, { booked });
    const steps = earliestStartSteps(state, gang(2, 1), { horizonEnd: 1_000 });
    expect(steps.next().done).toBe(false);
    for (const before of booked.slice(0, 2))
      state.apply({ kind: "reservation", before, after: { ...before, state: "released" } });
    expect(steps.next()).toEqual({ done: true, value: { at: 0, searchedTo: 0 } });
  });
});
