import { describe, expect, it } from "vitest";
import type { UnitId } from "../ids.ts";
import { NO_SCALARS, type Node, type PoolConfig } from "../model.ts";
import {
  HOUR,
  MINUTE,
  NOW,
  type TestTurn,
  accepted,
  booking,
  derive,
  gpuPool,
  refused,
  turnOn,
} from "../reservations/test-kit.ts";
import { releaseReservation } from "../reservations/release.ts";
import { nodeIdOf, putNodes } from "./put-nodes.ts";
import { type NodeReport, reportIssues } from "./report.ts";

const SITE = "site_00000000000000000000000000";

function report(given: Partial<NodeReport> = {}): NodeReport {
  return {
    name: "a",
    vcpu: 32,
    memoryGiB: 256,
    gpus: [0, 1].map((index) => ({
      uuid: `GPU-${index}`,
      index,
      model: "H100",
      memoryMiB: 81_559,
      nvlinkDomain: "nv0",
    })),
    nics: [{ name: "mlx0", vfs: 2 }],
    disks: [{ name: "nvme0", sizeGiB: 3_500 }],
    ...given,
  };
}

const ID = nodeIdOf(SITE, "a", derive);

function put(turn: TestTurn, ...reports: NodeReport[]) {
  return putNodes(turn, {
    siteId: SITE,
    ownerId: "t-own",
    nodes: reports.map((r) => ({ id: nodeIdOf(SITE, r.name, derive), report: r })),
  });
}

function nodeOf(turn: TestTurn): Node {
  const node = turn.state.node(ID);
  if (!node) throw new Error("the node is not there");
  return node;
}

/** The node registered, its events read. */
function registered(given: Partial<NodeReport> = {}): TestTurn {
  const turn = turnOn(gpuPool(0, 0));
  accepted(put(turn, report(given)));
  turn.takeEvents();
  return turn;
}

/** A booking of t-a that has begun on these units of the node. */
function book(turn: TestTurn, unitIds: readonly UnitId[], vcpu = 0): void {
  const resources = { ...NO_SCALARS, vcpu };
  const members = [{ index: 0, nodeId: ID, unitIds, resources }];
  const after = booking({ start: NOW, end: NOW + 2 * HOUR, resources, members });
  turn.apply({ kind: "reservation", before: null, after });
}

describe("a new node", () => {
  it("has one unit a GPU, a VF and a disk, in that order", () => {
    const turn = turnOn(gpuPool(0, 0));
    expect(accepted(put(turn, report()))).toEqual([
      { id: ID, name: "a", outcome: "created", topologyGen: 1 },
    ]);
    expect(nodeOf(turn).units.map((u) => [u.class, u.index, u.memoryGiB])).toEqual([
      ["gpu", 0, 80],
      ["gpu", 1, 80],
      ["nic.vf", 0, null],
      ["nic.vf", 1, null],
      ["disk", 0, 3_500],
    ]);
    expect(turn.takeEvents()).toEqual(["node.registered"]);
  });

  it("is ready, sound and without labels unless it says otherwise", () => {
    const node = nodeOf(registered());
    expect(node).toMatchObject({ state: "ready", labels: {}, tenantOwned: false, version: 1 });
    expect(node.units.every((unit) => unit.healthy && !unit.removed)).toBe(true);
  });
});

describe("a report of a known node", () => {
  it("changes nothing and tells nobody when it says nothing new, whatever the order of its labels", () => {
    const turn = registered({ labels: { rack: "1", row: "2" } });
    turn.changes.length = 0;
    const again = report({ labels: { row: "2", rack: "1" } });
    expect(accepted(put(turn, again))).toMatchObject([{ outcome: "unchanged" }]);
    expect(turn.changes).toEqual([]);
    expect(turn.takeEvents()).toEqual([]);
  });

  it("keeps a state and a health that it does not mention", () => {
    const turn = registered({
      state: "unhealthy",
      gpus: [{ uuid: "x", index: 0, model: "H100", healthy: false }],
    });
    accepted(put(turn, report({ gpus: [{ uuid: "x", index: 0, model: "H100" }] })));
    expect(nodeOf(turn).state).toBe("unhealthy");
    expect(nodeOf(turn).units[0]?.healthy).toBe(false);
  });

  const rewirings: Record<string, NodeReport["gpus"]> = {
    "a GPU more": [...(report().gpus ?? []), { uuid: "GPU-2", index: 2, model: "H100" }],
    "a GPU less": report().gpus?.slice(1),
    "another order": report().gpus?.map((gpu) => ({ ...gpu, index: 1 - gpu.index })),
    "another NVLink domain": report().gpus?.map((gpu) => ({ ...gpu, nvlinkDomain: "nv1" })),
    "another VFIO group": report().gpus?.map((gpu) => ({ ...gpu, vfioGroup: "7" })),
  };
  for (const [name, gpus] of Object.entries(rewirings))
    it(`raises the topology generation for ${name}`, () => {
      const turn = registered();
      const done = accepted(put(turn, report({ gpus })));
      expect(done).toMatchObject([{ outcome: "changed", topologyGen: 2 }]);
      expect(turn.takeEvents()).toEqual(["node.topologyChanged"]);
    });

  it("keeps the generation for what is not topology", () => {
    const turn = registered();
    const done = accepted(put(turn, report({ address: "10.0.0.1", nics: [], vcpu: 64 })));
    expect(done).toMatchObject([{ outcome: "changed", topologyGen: 1 }]);
    expect(nodeOf(turn).version).toBe(2);
  });

  it("lets an unbooked device go", () => {
    const turn = registered();
    accepted(put(turn, report({ gpus: report().gpus?.slice(1), disks: [] })));
    expect(nodeOf(turn).units.map((u) => u.class)).toEqual(["gpu", "nic.vf", "nic.vf"]);
  });

  it("keeps a booked device as removed until its last booking ends", () => {
    const turn = registered();
    const [first] = nodeOf(turn).units;
    if (!first) throw new Error("no unit");
    book(turn, [first.id]);
    accepted(put(turn, report({ gpus: report().gpus?.slice(1) })));
    const kept = nodeOf(turn).units.find(({ id }) => id === first.id);
    expect(kept).toMatchObject({ removed: true });
    const mine = { reservationId: "rsv_00000000000000000000000000", tenantId: "t-a" } as const;
    accepted(releaseReservation(turn, mine));
    expect(nodeOf(turn).units.some(({ id }) => id === first.id)).toBe(false);
  });

  it("takes a removed device back as it was", () => {
    const turn = registered();
    const [first] = nodeOf(turn).units;
    if (!first) throw new Error("no unit");
    book(turn, [first.id]);
    accepted(put(turn, report({ gpus: report().gpus?.slice(1) })));
    accepted(put(turn, report()));
    expect(nodeOf(turn).units[0]).toEqual(first);
  });

  it("does not take away scalars that live bookings hold", () => {
    const turn = registered();
    const [first] = nodeOf(turn).units;
    book(turn, first ? [first.id] : [], 20);
    const refusal = refused(put(turn, report({ vcpu: 16 })));
    expect(refusal).toMatchObject({ code: "INVALID_STATE" });
    expect(accepted(put(turn, report({ vcpu: 20 })))).toMatchObject([{ outcome: "changed" }]);
  });

  it("tells the holders of a unit of its health, and nobody else", () => {
    const turn = registered();
    const [first] = nodeOf(turn).units;
    book(turn, first ? [first.id] : []);
    turn.moveTo(NOW + MINUTE);
    const gpus = report().gpus?.map((gpu) => ({ ...gpu, healthy: gpu.index !== 0 }));
    accepted(put(turn, report({ gpus })));
    expect(turn.events.filter(({ type }) => type === "unit.healthChanged")).toMatchObject([
      { views: [{ tenantId: "t-own" }, { tenantId: "t-a" }] },
    ]);
  });
});

describe("a pool", () => {
  const newcomers: Record<string, [Partial<PoolConfig>, Partial<NodeReport>, string]> = {
    "of another site takes no node": [
      { siteId: "site_00000000000000000000000001" },
      {},
      "INVALID_INPUT",
    ],
    "that is archived takes no new node": [{ archivedAt: NOW }, {}, "INVALID_STATE"],
    "offered to others takes no tenant-owned node": [{}, { tenantOwned: true }, "INVALID_STATE"],
  };
  for (const [name, [config, given, code]] of Object.entries(newcomers))
    it(`${name}, and nothing is written`, () => {
      const turn = turnOn(gpuPool(0, 0, config));
      expect(
        refused(put(turn, report({ name: "b", tenantOwned: false }), report(given))),
      ).toMatchObject({ code });
      expect(turn.changes).toEqual([]);
    });

  it("of its owner alone takes a tenant-owned node", () => {
    const turn = turnOn(gpuPool(0, 0, { offers: [] }));
    expect(accepted(put(turn, report({ tenantOwned: true })))).toMatchObject([
      { outcome: "created" },
    ]);
  });
});

describe("what the caller saw elsewhere", () => {
  const ask = { siteId: SITE, ownerId: "t-own", derive } as const;

  it("is looked for again when a node has left the gate, and nothing is written", () => {
    const turn = turnOn(gpuPool(0, 0));
    const nodes = [{ id: ID, report: report(), member: true }];
    expect(accepted(putNodes(turn, { ...ask, nodes }))).toBeNull();
    expect(turn.changes).toEqual([]);
  });

  it("is looked for again when another node of the gate has a reported GPU", () => {
    const turn = registered();
    turn.changes.length = 0;
    expect(accepted(put(turn, report({ name: "b" })))).toBeNull();
    expect(turn.changes).toEqual([]);
    const moved = accepted(put(turn, report({ gpus: [] }), report({ name: "b" })));
    expect(moved).toMatchObject([{ outcome: "changed" }, { outcome: "created" }]);
  });

  it("counts on from what a node was when it was removed", () => {
    const turn = turnOn(gpuPool(0, 0));
    const nodes = [{ id: ID, report: report(), was: { version: 7, topologyGen: 3 } }];
    const done = accepted(putNodes(turn, { ...ask, nodes }));
    expect(done).toMatchObject([{ outcome: "created", topologyGen: 4 }]);
    expect(nodeOf(turn).version).toBe(8);
  });
});

describe("reports taken together", () => {
  const cases: Record<string, [NodeReport[], (string | number)[]]> = {
    "a node named twice": [
      [report(), report({ gpus: [] })],
      ["nodes", 1, "name"],
    ],
    "a GPU on two nodes": [
      [report(), report({ name: "b" })],
      ["nodes", 1, "gpus", 0, "uuid"],
    ],
    "an index given twice": [
      [report({ gpus: [0, 0].map((index, i) => ({ uuid: `g${i}`, index, model: "H100" })) })],
      ["nodes", 0, "gpus", 1, "index"],
    ],
    "a card named twice": [
      [
        report({
          nics: [
            { name: "m", vfs: 1 },
            { name: "m", vfs: 1 },
          ],
        }),
      ],
      ["nodes", 0, "nics", 1, "name"],
    ],
    "a disk named twice": [
      [
        report({
          disks: [
            { name: "d", sizeGiB: 1 },
            { name: "d", sizeGiB: 2 },
          ],
        }),
      ],
      ["nodes", 0, "disks", 1, "name"],
    ],
  };
  for (const [name, [reports, path]] of Object.entries(cases))
    it(`name the record of ${name}`, () => {
      expect(reportIssues(reports).map((issue) => issue.path)).toContainEqual(path);
    });
});
