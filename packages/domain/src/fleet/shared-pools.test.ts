/** MIG pools and slot pools: what becomes of GPUs, and when a node takes a new layout. */
import { describe, expect, it } from "vitest";
import type { UnitId } from "../ids.ts";
import { NO_SCALARS, type Node, type PoolConfig, type PoolPolicy, type Unit } from "../model.ts";
import { updatePool } from "../pools/update.ts";
import { releaseReservation } from "../reservations/release.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  booking,
  derive,
  gpuPool,
  refused,
  turnOn,
} from "../reservations/test-kit.ts";
import { isFaulty } from "../rollup/buckets.ts";
import { recountRollup } from "../rollup/recount.ts";
import { PoolState } from "../state/pool-state.ts";
import { moveNode } from "./move-node.ts";
import { nodeIdOf, putNodes } from "./put-nodes.ts";
import { type GpuReport, type NodeReport, reportIssues } from "./report.ts";
import { setUnitHealth } from "./set-state.ts";

const SITE = "site_00000000000000000000000000";
const H100 = "NVIDIA H100 80GB HBM3";
const HALVES = ["3g.40gb", "4g.40gb"];
const SEVENTHS = Array<string>(7).fill("1g.10gb");

const gpu = (index: number, more: Partial<GpuReport> = {}): GpuReport => ({
  uuid: `GPU-${index}`,
  index,
  model: H100,
  memoryMiB: 81_559,
  nvlinkDomain: "nv0",
  ...more,
});
const report = (more: Partial<NodeReport> = {}): NodeReport => ({
  name: "a",
  gpus: [gpu(0), gpu(1)],
  disks: [{ name: "nvme0", sizeGiB: 100 }],
  ...more,
});
const idOf = (name: string) => nodeIdOf(SITE, name, derive);

function put(turn: TestTurn, ...reports: NodeReport[]) {
  const nodes = reports.map((r) => ({ id: idOf(r.name), report: r }));
  return putNodes(turn, { siteId: SITE, ownerId: "t-own", nodes });
}

function poolOf(
  sharing: PoolConfig["sharing"],
  policy: PoolPolicy,
  ...reports: NodeReport[]
): TestTurn {
  const turn = turnOn(gpuPool(0, 0, { sharing, policy }));
  accepted(put(turn, ...reports));
  turn.takeEvents();
  return turn;
}

const migPool = (layout: readonly string[], ...reports: NodeReport[]): TestTurn =>
  poolOf("mig", { migLayout: { [H100]: layout } }, ...(reports.length > 0 ? reports : [report()]));
const slotPool = (replicas: number): TestTurn =>
  poolOf("timeslice", { sharing: { replicas } }, report());

function nodeOf(turn: TestTurn, name = "a"): Node {
  const node = turn.state.node(idOf(name));
  if (!node) throw new Error("the node is not there");
  return node;
}

const partsOf = (turn: TestTurn, name = "a"): readonly Unit[] =>
  nodeOf(turn, name).units.filter((unit) => unit.parentUnitId !== null);
const look = (units: readonly Unit[]): string[] =>
  units.map(({ gpuUuid, profile, placement }) => `${gpuUuid}:${profile}@${placement}`);

let bookings = 0;

/** A live booking of these units from an hour on. */
function book(turn: TestTurn, unitIds: readonly UnitId[], name = "a") {
  const members = [{ index: 0, nodeId: idOf(name), unitIds, resources: NO_SCALARS }];
  bookings += 1;
  const id = `rsv_${String(bookings).padStart(26, "0")}` as const;
  const after = booking({ id, start: NOW + HOUR, end: NOW + 2 * HOUR, members });
  turn.apply({ kind: "reservation", before: null, after });
  return { reservationId: id, tenantId: "t-a" };
}

const relayout = (turn: TestTurn, layout: readonly string[]) =>
  updatePool(turn, { tenantId: "t-own", policy: { migLayout: { [H100]: layout } } });

/** What the state counts is what the rows say. */
function expectCounted({ state, now }: TestTurn): void {
  const rows = { nodes: [...state.nodes()], reservations: [...state.reservations()] };
  const snapshot = { ...gpuPool(0, 0), config: state.config, ...rows };
  expect(state.rollup()).toEqual(recountRollup(snapshot, now));
}

describe("a node of a mig pool", () => {
  it("has the instances of the layout, each with profile, start and memory, and its GPUs beside them", () => {
    const turn = migPool(HALVES);
    const node = nodeOf(turn);
    expect(look(partsOf(turn))).toEqual([
      "GPU-0:4g.40gb@0",
      "GPU-0:3g.40gb@4",
      "GPU-1:4g.40gb@0",
      "GPU-1:3g.40gb@4",
    ]);
    expect(partsOf(turn)[1]).toMatchObject({
      id: derive("unit", "gpu.mig", [node.id, "GPU-0:3g.40gb@4"]),
      class: "gpu.mig",
      index: 4,
      model: H100,
      memoryGiB: 40,
      gpuUuid: "GPU-0",
      parentUnitId: derive("unit", "gpu", [node.id, "GPU-0"]),
      nvlinkDomain: null,
    });
    expect(node.gpus.map(({ class: kind, gpuUuid }) => [kind, gpuUuid])).toEqual([
      ["gpu", "GPU-0"],
      ["gpu", "GPU-1"],
    ]);
    expect(node.units.map((unit) => unit.class)).toEqual([
      ...Array<string>(4).fill("gpu.mig"),
      "disk",
    ]);
    expectCounted(turn);
  });

  it("is the same after the same report, and has no units of a GPU whose model has no layout", () => {
    const turn = migPool(HALVES);
    expect(accepted(put(turn, report()))).toMatchObject([{ outcome: "unchanged" }]);
    const mixed = migPool(HALVES, report({ gpus: [gpu(0), gpu(1, { model: "NVIDIA L40S" })] }));
    expect(look(partsOf(mixed))).toEqual(["GPU-0:4g.40gb@0", "GPU-0:3g.40gb@4"]);
    expect(nodeOf(mixed).gpus).toHaveLength(2);
  });

  it("matches the layout's model without maker and case", () => {
    const turn = poolOf("mig", { migLayout: { "h100 80gb hbm3": ["7g.80gb"] } }, report());
    expect(look(partsOf(turn))).toEqual(["GPU-0:7g.80gb@0", "GPU-1:7g.80gb@0"]);
  });

  it("is cut by the table that it reports, whatever is known of the model", () => {
    const migProfiles = [{ profile: "1g.24gb", size: 2, starts: [0, 2] }];
    const turn = poolOf(
      "mig",
      { migLayout: { "RTX PRO 6000": ["1g.24gb"], [H100]: ["1g.24gb", "1g.24gb"] } },
      report({
        gpus: [gpu(0, { model: "NVIDIA RTX PRO 6000", migProfiles }), gpu(1, { migProfiles })],
      }),
    );
    expect(look(partsOf(turn))).toEqual(["GPU-0:1g.24gb@2", "GPU-1:1g.24gb@0", "GPU-1:1g.24gb@2"]);
  });

  it("reports no table with a profile or a start twice, or beyond sixteen slices", () => {
    const table = (...migProfiles: NonNullable<GpuReport["migProfiles"]>) =>
      reportIssues([report({ gpus: [gpu(0, { migProfiles })] })]).map(({ path }) => path.slice(4));
    const one = { profile: "1g", size: 1, starts: [0] };
    expect(table(one, one)).toEqual([["migProfiles", 1, "profile"]]);
    expect(table({ ...one, starts: [0, 0] })).toEqual([["migProfiles", 0, "starts", 1]]);
    expect(table({ ...one, starts: [15], size: 2 })).toEqual([["migProfiles", 0, "starts"]]);
    expect(table({ ...one, starts: [15] })).toEqual([]);
  });
});

describe("a node of a timeslice or mps pool", () => {
  it("has the pool's number of slots a GPU, ten when it does not say", () => {
    expect(partsOf(slotPool(4))).toHaveLength(8);
    const turn = poolOf("mps", {}, report());
    const slots = partsOf(turn);
    expect(slots).toHaveLength(20);
    expect(new Set(slots.map(({ index }) => index)).size).toBe(20);
    expect(slots[10]).toMatchObject({
      id: derive("unit", "gpu.slot", [idOf("a"), "GPU-1:0"]),
      class: "gpu.slot",
      gpuUuid: "GPU-1",
      parentUnitId: derive("unit", "gpu", [idOf("a"), "GPU-1"]),
      memoryGiB: 80,
      profile: null,
      placement: null,
    });
    expectCounted(turn);
  });

  it("is refused in one call with more units than one write takes", () => {
    const big = (name: string): NodeReport => ({
      name,
      gpus: Array.from({ length: 64 }, (_, i) => gpu(i, { uuid: `GPU-${name}-${i}` })),
    });
    const turn = poolOf("timeslice", { sharing: { replicas: 48 } });
    accepted(put(turn, ...["a", "b", "c"].map(big)));
    expect(refused(put(turn, ...["a", "b", "c", "d"].map(big)))).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["nodes"] }],
    });
  });
});

describe("the health of a GPU that is shared out", () => {
  it("counts for each of its parts and is set apart from theirs", () => {
    const turn = migPool(HALVES);
    const [first] = partsOf(turn) as [Unit, ...Unit[]];
    const parent = first.parentUnitId as UnitId;
    book(turn, [first.id]);
    const faulty = () => partsOf(turn).map((part) => isFaulty(nodeOf(turn), part));

    accepted(setUnitHealth(turn, { nodeId: idOf("a"), unitId: parent, healthy: false }));
    expect(faulty()).toEqual([true, true, false, false]);
    expect(turn.state.rollup().find((row) => row.resource === "gpu.mig")?.unhealthy).toBe(2);
    const told = turn.events.find(({ type }) => type === "unit.healthChanged");
    expect(told?.views.map((view) => view.tenantId)).toEqual(["t-own", "t-a"]);

    accepted(setUnitHealth(turn, { nodeId: idOf("a"), unitId: first.id, healthy: false }));
    accepted(setUnitHealth(turn, { nodeId: idOf("a"), unitId: parent, healthy: true }));
    expect(faulty()).toEqual([true, false, false, false]);
    expectCounted(turn);
  });

  it("is reported with the GPU and stays as it was when the report says nothing", () => {
    const turn = migPool(HALVES);
    accepted(put(turn, report({ gpus: [gpu(0, { healthy: false }), gpu(1)] })));
    expect(nodeOf(turn).gpus.map(({ healthy }) => healthy)).toEqual([false, true]);
    expect(turn.takeEvents()).toContain("unit.healthChanged");
    accepted(put(turn, report()));
    expect(nodeOf(turn).gpus.map(({ healthy }) => healthy)).toEqual([false, true]);
  });
});

describe("a new layout", () => {
  it("is taken at once by nodes without a booking, and by another in the write that ends its last one", () => {
    const turn = migPool(HALVES, report(), report({ name: "b", gpus: [gpu(2)] }));
    const [first, second] = partsOf(turn) as [Unit, Unit];
    const one = book(turn, [first.id]);
    const two = book(turn, [second.id]);
    const before = nodeOf(turn);

    accepted(relayout(turn, SEVENTHS));
    expect(nodeOf(turn)).toBe(before);
    expect(look(partsOf(turn, "b"))).toHaveLength(7);
    expect(nodeOf(turn, "b")).toMatchObject({ version: 2, topologyGen: 1 });

    accepted(releaseReservation(turn, one));
    expect(look(partsOf(turn))).toHaveLength(4);
    turn.changes.length = 0;
    accepted(releaseReservation(turn, two));
    expect(turn.changes.map(({ kind }) => kind)).toEqual(["reservation", "node"]);
    expect(look(partsOf(turn))).toHaveLength(14);
    expect(nodeOf(turn).units.filter(({ class: kind }) => kind === "disk")).toHaveLength(1);
    expectCounted(turn);
  });

  it("does not wait for a booking of a disk, and keeps the hold on an instance that stays", () => {
    const turn = migPool(["3g.40gb", "3g.40gb"]);
    const disk = nodeOf(turn).units.at(-1) as Unit;
    const kept = partsOf(turn)[1] as Unit;
    book(turn, [disk.id]);
    accepted(setUnitHealth(turn, { nodeId: idOf("a"), unitId: kept.id, healthy: false }));
    accepted(relayout(turn, HALVES));
    expect(look(partsOf(turn))[1]).toBe("GPU-0:3g.40gb@4");
    expect(partsOf(turn).map(({ healthy }) => healthy)).toEqual([true, false, true, true]);
  });

  it("that goes leaves idle GPUs without units, and a new number of slots is taken alike", () => {
    const turn = migPool(HALVES);
    accepted(updatePool(turn, { tenantId: "t-own", policy: {} }));
    expect(partsOf(turn)).toEqual([]);
    expect(nodeOf(turn).gpus).toHaveLength(2);
    const slots = slotPool(4);
    const busy = book(slots, [(partsOf(slots)[0] as Unit).id]);
    accepted(updatePool(slots, { tenantId: "t-own", policy: { sharing: { replicas: 6 } } }));
    expect(partsOf(slots)).toHaveLength(8);
    accepted(releaseReservation(slots, busy));
    expect(partsOf(slots)).toHaveLength(12);
  });

  it("is refused with the profile that does not fit the pool's own GPUs, and nothing changes", () => {
    const odd = { migProfiles: [{ profile: "1g.20gb", size: 4, starts: [0, 4] }] };
    const turn = migPool(HALVES, report(), report({ name: "b", gpus: [gpu(2, odd)] }));
    turn.changes.length = 0;
    expect(refused(relayout(turn, ["3g.40gb", "5g.60gb"]))).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["policy", "migLayout", H100, 1] }],
    });
    expect(refused(relayout(turn, ["1g.20gb", "1g.20gb", "1g.20gb"]))).toMatchObject({
      issues: [
        {
          path: ["policy", "migLayout", H100, 2],
          message: `${H100}: 1g.20gb does not fit: it takes 4 memory slices, and 0 of 8 are left`,
        },
      ],
    });
    accepted(relayout(turn, ["1g.20gb", "1g.20gb"]));
    expect(
      refused(updatePool(turn, { tenantId: "t-own", policy: { migLayout: { L4: ["1g"] } } })),
    ).toMatchObject({
      issues: [{ path: ["policy", "migLayout", "L4"] }],
    });
  });

  it("of a large pool is taken turn by turn, each bounded, until none is left", () => {
    const names = Array.from({ length: 100 }, (_, i) => `n${i}`);
    const many = names.map((name): NodeReport => ({
      name,
      gpus: Array.from({ length: 8 }, (_, i) => gpu(i, { uuid: `GPU-${name}-${i}` })),
    }));
    const turn = migPool(HALVES, ...many);
    const waiting = () => turn.state.pendingLayouts().length;
    accepted(relayout(turn, SEVENTHS));
    const left = [waiting()];
    while (waiting() > 0) {
      turn.moveTo(turn.now + 1);
      left.push(waiting());
    }
    expect(left).toEqual([26, 0]);
    expect([...turn.state.nodes()].every(({ units }) => units.length === 56)).toBe(true);
    expectCounted(turn);
  });

  it("is not pending in what was taken back, and is again in a state that is loaded", () => {
    const turn = migPool(HALVES);
    const from = turn.changes.length;
    accepted(relayout(turn, SEVENTHS));
    const taken = turn.changes.splice(from);
    for (const change of taken.toReversed()) turn.state.revert(change);
    expect(turn.state.pendingLayouts()).toEqual([]);
    const config = taken.find((change) => change.kind === "config")?.after ?? null;
    const loaded = PoolState.load({ ...gpuPool(0, 0), config, nodes: [nodeOf(turn)] });
    expect(loaded.pendingLayouts()).toEqual([idOf("a")]);
  });
});

describe("a report while parts of a GPU are booked", () => {
  it("leaves the GPUs cut as they are, cuts new ones as the policy says, and all when they are idle", () => {
    const turn = migPool(HALVES);
    const busy = book(turn, [(partsOf(turn)[0] as Unit).id]);
    accepted(relayout(turn, ["7g.80gb"]));
    accepted(put(turn, report({ gpus: [gpu(0), gpu(1), gpu(2)] })));
    expect(look(partsOf(turn)).at(-1)).toBe("GPU-2:7g.80gb@0");
    expect(partsOf(turn)).toHaveLength(5);
    expect(nodeOf(turn).topologyGen).toBe(2);
    accepted(releaseReservation(turn, busy));
    expect(look(partsOf(turn))).toEqual(["GPU-0:7g.80gb@0", "GPU-1:7g.80gb@0", "GPU-2:7g.80gb@0"]);
  });

  it("keeps a booked part of a missing GPU as removed, and both leave with its last booking", () => {
    const turn = slotPool(4);
    const busy = book(turn, [(partsOf(turn)[0] as Unit).id]);
    accepted(put(turn, report({ gpus: [gpu(1)] })));
    expect(partsOf(turn).map(({ removed }) => removed)).toEqual([true, false, false, false, false]);
    expect(nodeOf(turn).gpus.map(({ removed }) => removed)).toEqual([true, false]);
    expect(turn.state.rollup().find((row) => row.resource === "gpu.slot")).toMatchObject({
      total: 5,
      unhealthy: 1,
    });
    accepted(releaseReservation(turn, busy));
    expect(partsOf(turn)).toHaveLength(4);
    expect(nodeOf(turn).gpus).toHaveLength(1);
    expectCounted(turn);
  });

  it("makes a GPU that comes back whole again", () => {
    const turn = slotPool(4);
    book(turn, [(partsOf(turn)[0] as Unit).id]);
    const before = nodeOf(turn);
    accepted(put(turn, report({ gpus: [gpu(1)] })));
    accepted(put(turn, report()));
    expect(nodeOf(turn).units).toEqual(before.units);
    expect(nodeOf(turn).gpus).toEqual(before.gpus);
  });
});

describe("a node that moves between pools", () => {
  it("is cut as its new pool says, keeps its GPUs' health, and has them whole where none is shared", () => {
    const mig = migPool(HALVES);
    const [part] = partsOf(mig) as [Unit];
    const sick = part.parentUnitId as UnitId;
    accepted(setUnitHealth(mig, { nodeId: idOf("a"), unitId: sick, healthy: false }));
    const slots = poolOf("timeslice", { sharing: { replicas: 2 } });
    accepted(moveNode(mig, slots, { nodeId: idOf("a") }));
    expect(partsOf(slots).map(({ class: kind }) => kind)).toEqual(Array(4).fill("gpu.slot"));
    const whole = turnOn(gpuPool(0, 0));
    accepted(moveNode(slots, whole, { nodeId: idOf("a") }));
    expect(nodeOf(whole).gpus).toEqual([]);
    expect(
      nodeOf(whole).units.map(({ id, class: kind, healthy }) => [id === sick, kind, healthy]),
    ).toEqual([
      [true, "gpu", false],
      [false, "gpu", true],
      [false, "disk", true],
    ]);
    expect(nodeOf(whole).topologyGen).toBe(1);
    const back = poolOf("mig", { migLayout: { [H100]: HALVES } });
    accepted(moveNode(whole, back, { nodeId: idOf("a") }));
    expect(look(partsOf(back))).toEqual(look(partsOf(migPool(HALVES))));
    expect(back.state.rollup().find((row) => row.resource === "gpu.mig")?.unhealthy).toBe(2);
  });
});
