import { describe, expect, it } from "vitest";
import { place } from "../placer/place.ts";
import { createReservation } from "./create.ts";
import { type BookingShape, resolveBooking } from "./request.ts";
import { bookingQuota } from "./room.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  booking,
  gpuNode,
  gpuPool,
  gpus,
  nodeId,
  poolConfig,
  refused,
  turnOn,
} from "./test-kit.ts";

const row = (resource: string, max: number) => ({ tenantId: "t-a", resource, max });

/** Whole nodes: `count` of them, or one a member of the gang. */
function nodes(count: number, given: Partial<BookingShape> = {}): BookingShape {
  return gpus(1, {
    binding: "node",
    node: { profileId: "p", profileVersion: 2 },
    devices: [{ class: "node", count }],
    ...given,
  });
}

const booked = (turn: TestTurn, shape: BookingShape, tenantId = "t-a") =>
  createReservation(turn, {
    tenantId,
    ancestors: [],
    shape,
    projectId: null,
    leaseSeconds: null,
    createdBy: "ci",
  });

/** Nodes of 8, 8 and 4 GPUs. */
function mixed(max: number, more: ReturnType<typeof row>[] = []): TestTurn {
  const config = poolConfig({ quotas: [row("gpu", max), ...more] });
  return turnOn({ ...gpuPool(0, 0), config, nodes: [gpuNode(0, 8), gpuNode(1, 8), gpuNode(2, 4)] });
}

const gpusOf = (turn: TestTurn, shape: BookingShape) =>
  accepted(booked(turn, shape)).members.map(({ unitIds }) => unitIds.length);

describe("a lease of whole nodes", () => {
  it("holds every unit and all scalars of its nodes, and is charged for their GPUs", () => {
    const turn = mixed(100, [row("node", 5), row("vcpu", 500)]);
    const made = accepted(booked(turn, nodes(2)));
    expect(made).toMatchObject({
      binding: "node",
      node: { profileId: "p", profileVersion: 2 },
      gang: null,
    });
    expect(made.members.map(({ index }) => index)).toEqual([0, 1]);
    const held = made.members.map(({ nodeId: id }) => turn.state.node(id));
    for (const [at, node] of held.entries()) {
      expect(made.members[at]?.unitIds).toEqual(node?.units.map(({ id }) => id));
      expect(made.members[at]?.resources).toEqual(node?.scalars);
    }
    const sum = made.members.reduce((total, { unitIds }) => total + unitIds.length, 0);
    expect(turn.state.usage("t-a", "gpu")?.peak(NOW, NOW + HOUR)).toBe(sum);
    expect(turn.state.usage("t-a", "node")?.peak(NOW, NOW + HOUR)).toBe(2);
    expect(turn.state.usage("t-a", "vcpu")?.peak(NOW, NOW + HOUR)).toBe(128);
  });

  it("takes nodes with fewer GPUs when the best are over quota", () => {
    expect(gpusOf(mixed(4), nodes(1))).toEqual([4]);
    expect(new Set(gpusOf(mixed(12), nodes(2)))).toEqual(new Set([4, 8]));
  });

  it("is over quota when even the fewest GPUs are, whether or not there is room", () => {
    const over = { code: "QUOTA_EXCEEDED", resource: "gpu" };
    expect(refused(booked(mixed(3), nodes(1)))).toMatchObject({ ...over, max: 3, requested: 4 });
    expect(refused(booked(mixed(11), nodes(2)))).toMatchObject({ ...over, requested: 12 });
    const full = mixed(3);
    for (const n of [0, 1, 2])
      full.apply({
        kind: "reservation",
        before: null,
        after: booking({ id: `rsv_${String(n).repeat(26)}`, tenantId: "t-b", onNode: n, gpus: 1 }),
      });
    expect(refused(booked(full, nodes(1)))).toMatchObject(over);
  });

  it("is out of room when the quota would allow it", () => {
    const turn = mixed(100);
    for (const n of [0, 1])
      turn.apply({
        kind: "reservation",
        before: null,
        after: booking({ id: `rsv_${String(n).repeat(26)}`, tenantId: "t-b", onNode: n, gpus: 1 }),
      });
    expect(refused(booked(turn, nodes(2))).code).toBe("NO_CAPACITY");
    expect(accepted(booked(turn, nodes(1))).members[0]?.nodeId).toBe(nodeId(2));
  });

  it.each(["request", "line"])("with nvlink-all on the %s has its GPUs in one domain", (where) => {
    const wired = (n: number, domains: readonly (string | null)[]) => {
      const node = gpuNode(n, domains.length);
      const units = node.units.map((unit, at) => ({ ...unit, nvlinkDomain: domains[at] ?? null }));
      return { ...node, units };
    };
    const few = [wired(0, ["d0", "d1"]), wired(1, [null, null]), wired(2, ["d0", null])];
    const many = wired(3, ["d0", "d0", "d0"]);
    const topology = "nvlink-all" as const;
    const shape =
      where === "request"
        ? nodes(1, { topology })
        : nodes(1, { devices: [{ class: "node", count: 1, topology }] });
    const turn = turnOn({ ...gpuPool(0, 0, poolConfig()), nodes: [...few, many] });
    expect(accepted(booked(turn, shape)).members[0]?.nodeId).toBe(nodeId(3));
    expect(refused(booked(turn, shape))).toMatchObject({
      reason: {
        code: "NVLINK",
        message:
          "1 whole node with nvlink-all: 3 of 4 nodes have GPUs that are not all in one NVLink domain, 1 is booked in this window",
      },
    });
    expect(booked(turn, nodes(3)).ok).toBe(true);
  });

  it("of a gang is a node a member", () => {
    const made = accepted(booked(mixed(100), nodes(1, { gang: { size: 3 } })));
    expect(made.gang).toEqual({ size: 3 });
    expect(new Set(made.members.map((member) => member.nodeId)).size).toBe(3);
  });

  it("is metered by node only for a tenant that has a row for it", () => {
    expect(refused(booked(mixed(100, [row("node", 1)]), nodes(2)))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      resource: "node",
      requested: 2,
    });
  });

  it.each([100, 12, 11, 4, 3])("is quoted as it is booked, with a quota of %i", (max) => {
    for (const count of [1, 2, 3]) {
      const turn = mixed(max);
      const shape = nodes(count);
      const ask = { tenantId: "t-a", ancestors: [], shape };
      const resolved = accepted(resolveBooking(turn.state, NOW, ask));
      const lines = bookingQuota(turn.state, resolved, place(turn.state, resolved.request));
      const within = lines.every(({ peak, asked, max: most }) => peak + asked <= most);
      expect(booked(turn, shape).ok).toBe(within);
    }
  });
});

describe("a gang", () => {
  it("is one reservation with all members, or nothing at all", () => {
    const turn = turnOn(gpuPool(4, 8));
    const made = accepted(booked(turn, gpus(8, { gang: { size: 3 } })));
    expect(made.members.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(made.members.flatMap(({ unitIds }) => unitIds)).size).toBe(24);
    expect(turn.state.usage("t-a", "gpu")?.peak(NOW, NOW + HOUR)).toBe(24);
    const before = turn.changes.length;
    expect(refused(booked(turn, gpus(8, { gang: { size: 2 } })))).toMatchObject({
      code: "NO_CAPACITY",
      reason: {
        blocked: [
          { cause: "BUSY", nodes: 3 },
          { cause: "GANG", nodes: 1 },
        ],
      },
    });
    expect(turn.changes).toHaveLength(before);
  });

  it("is over quota by all of its members", () => {
    const turn = turnOn(gpuPool(4, 8, { quotas: [row("gpu", 16)] }));
    expect(refused(booked(turn, gpus(8, { gang: { size: 3 } })))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      requested: 24,
    });
    expect(accepted(booked(turn, gpus(8, { gang: { size: 2 } }))).members).toHaveLength(2);
  });
});

describe("a regular booking without room", () => {
  const notice = { policy: { spot: { noticeSeconds: 60 } } };

  it("is scheduled from the end of the notice that spot bookings are given for it", () => {
    const turn = turnOn(gpuPool(1, 2, notice));
    const spot = accepted(booked(turn, gpus(2, { spot: true }), "t-b"));
    turn.takeEvents();
    const made = accepted(booked(turn, gpus(1)));
    expect(made).toMatchObject({
      state: "scheduled",
      start: NOW + 60_000,
      end: NOW + 60_000 + HOUR,
      startedAt: null,
    });
    expect(turn.state.reservation(spot.id)).toMatchObject({
      state: "preempting",
      end: NOW + 60_000,
      preemption: { noticeAt: NOW, endsAt: NOW + 60_000, byId: made.id },
    });
    expect(turn.takeEvents()).toEqual(["reservation.preempting", "reservation.created"]);
  });

  it("gives nobody notice when it is over quota in the window that it would get", () => {
    const quotas = [row("gpu", 1), { tenantId: "t-b", resource: "gpu", max: 9 }];
    const turn = turnOn(gpuPool(1, 2, { ...notice, quotas }));
    accepted(booked(turn, gpus(2, { spot: true, durationMs: HOUR }), "t-b"));
    const later = { start: NOW + HOUR + 30_000, durationMs: HOUR };
    accepted(booked(turn, gpus(1, later)));
    const before = turn.changes.length;
    // Within quota from now on, and not in the window that the notice would move it to.
    const asked = booked(turn, gpus(1, { durationMs: HOUR }));
    expect(refused(asked)).toMatchObject({ code: "QUOTA_EXCEEDED", peak: 1 });
    expect(turn.changes).toHaveLength(before);
  });

  it("of the spot market gives nobody notice", () => {
    const turn = turnOn(gpuPool(1, 2, notice));
    accepted(booked(turn, gpus(2, { spot: true }), "t-b"));
    expect(refused(booked(turn, gpus(1, { spot: true }))).code).toBe("NO_CAPACITY");
  });
});
