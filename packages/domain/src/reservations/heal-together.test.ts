/** Bookings of several members, and several bookings at once. */
import { describe, expect, it } from "vitest";
import { scheduleMaintenance } from "../fleet/maintenance.ts";
import type { NodeId } from "../ids.ts";
import type { PoolSnapshot, Reservation } from "../model.ts";
import { useFreed } from "./freed.ts";
import {
  EIGHT,
  LATER,
  TEAM,
  book,
  fail,
  nodesOf,
  now,
  onNode,
  racks,
  release,
  sicken,
  told,
  unitsOf,
} from "../testing/healing.ts";
import type { BookingShape } from "./request.ts";
import {
  HOUR,
  NOW,
  type TestTurn,
  accepted,
  gpuNode,
  gpuPool,
  gpus,
  nodeId,
  turnOn,
  unitId,
} from "./test-kit.ts";

describe("a gang", () => {
  it("keeps the members that are sound where they are", () => {
    const turn = turnOn(gpuPool(3, 8));
    const before = book(turn, TEAM);
    fail(turn, nodesOf(before)[1] as NodeId);
    const after = now(turn, before);
    expect(after.members[0]).toBe(before.members[0]);
    expect(nodesOf(after)[1]).toBe(nodeId(2));
    expect(told(turn, "reservation.healed")).toMatchObject([
      { data: { from: [{ index: 1 }], to: [{ index: 1, nodeId: nodeId(2) }] } },
    ]);
  });

  it("finds a place for the lost member in the domain of the others", () => {
    const turn = turnOn(racks("a", "a", "b", "b", "b", "a"));
    const gang = { size: 2, topologyKey: "rack" };
    const before = book(turn, { ...EIGHT, gang });
    const rackOf = (id: NodeId) => turn.state.node(id)?.labels["rack"];
    fail(turn, nodesOf(before)[0] as NodeId);
    const after = now(turn, before);
    expect(after.members[1]).toBe(before.members[1]);
    expect(new Set(nodesOf(after).map(rackOf)).size).toBe(1);
  });

  it("goes to another domain as a whole when its own has no place for the lost member", () => {
    const turn = turnOn(racks("a", "a", "b", "b"));
    const before = book(turn, { ...EIGHT, gang: { size: 2, topologyKey: "rack" } });
    fail(turn, nodesOf(before)[0] as NodeId);
    const after = now(turn, before);
    expect(after.degraded).toBeNull();
    const gone = nodesOf(before);
    expect(nodesOf(after).filter((id) => gone.includes(id))).toEqual([]);
  });

  it("stays as a whole, flagged, when only some of it has somewhere to go", () => {
    const turn = turnOn(gpuPool(3, 8));
    const before = book(turn, TEAM);
    const other = book(turn, EIGHT, "t-b");
    for (const id of nodesOf(before)) fail(turn, id);
    release(turn, other);
    expect(now(turn, before).members).toBe(before.members);
    expect(now(turn, before).degraded?.unitIds).toEqual(unitsOf(before));
    fail(turn, nodesOf(before)[0] as NodeId, "ready");
    expect(now(turn, before).degraded).toBeNull();
    expect(now(turn, before).members[0]).toBe(before.members[0]);
    expect(nodesOf(now(turn, before))[1]).toBe(nodesOf(other)[0]);
  });
});

describe("a node that fails under many", () => {
  it("is left by all that can be elsewhere, also by those for whom others make room", () => {
    const turn = turnOn(racks("a", "a", "b", "b"));
    book(turn, gpus(4, { ...LATER, durationMs: 9 * HOUR, devices: onNode(1, 4) }), "t-b");
    const inRackA = { class: "gpu", count: 4, selector: { labels: { rack: "a" } } } as const;
    const before = book(turn, gpus(4, { ...LATER, devices: onNode(0, 4) }));
    const waits = { ...before, devices: [inRackA], version: 2 };
    turn.apply({ kind: "reservation", before, after: waits });
    const gang = { size: 2, topologyKey: "rack" };
    const start = NOW + 1.5 * HOUR;
    const moves = book(turn, gpus(4, { start, devices: [inRackA], gang }));
    const free = { ...moves, devices: [{ class: "gpu", count: 4 } as const], version: 2 };
    turn.apply({ kind: "reservation", before: moves, after: free });
    expect(nodesOf(moves)).toEqual([nodeId(0), nodeId(1)]);
    const window = { from: NOW, to: NOW + 9 * HOUR };
    const { plan } = accepted(scheduleMaintenance(turn, { nodeId: nodeId(0), ...window }));
    expect(plan).toEqual({ healed: [waits.id, moves.id].toSorted(), staying: [] });
    expect(nodesOf(now(turn, waits))).toEqual([nodeId(1)]);
  });

  it("and twenty gangs: each goes whole or stays, flagged, and those go when there is room", () => {
    const turn = turnOn(gpuPool(10, 8));
    const at = (hour: number) => ({ start: NOW + hour * HOUR });
    const gangs = Array.from({ length: 20 }, (_, n) => book(turn, { ...TEAM, ...at(n + 1) }));
    const [failing] = nodesOf(gangs[0] as Reservation) as [NodeId];
    expect(gangs.every((gang) => nodesOf(gang).includes(failing))).toBe(true);
    // Nobody else has room: in the first five hours, and in the next five.
    const full = [1, 6].map((hour) =>
      Array.from({ length: 8 }, () =>
        book(turn, gpus(8, { ...at(hour), durationMs: 5 * HOUR }), "t-b"),
      ),
    );

    const flagged = (): number => {
      const rows = gangs.map((gang) => now(turn, gang));
      for (const [n, row] of rows.entries()) {
        expect(new Set(unitsOf(row)).size).toBe(16);
        if (row.degraded) expect(row.members).toEqual(gangs[n]?.members);
        else if (turn.state.node(failing)?.state !== "ready")
          expect(nodesOf(row)).not.toContain(failing);
      }
      return rows.filter(({ degraded }) => degraded).length;
    };
    fail(turn, failing);
    expect(flagged(), "their node failed").toBe(10);
    release(turn, full[0]?.[0] as Reservation);
    expect(flagged(), "a node is free for five hours").toBe(5);
    fail(turn, failing, "ready");
    expect(flagged(), "their node is ready again").toBe(0);
    expect(told(turn, "reservation.healed")).toHaveLength(20);
    expect(told(turn, "reservation.degraded")).toHaveLength(10);
  });
});

describe("a lease of whole nodes", () => {
  const LEASE: BookingShape = {
    ...gpus(0, LATER),
    binding: "node",
    node: { profileId: "bare", profileVersion: null },
    devices: [{ class: "node", count: 1 }],
  };
  const pool = (max: number): PoolSnapshot => ({
    ...gpuPool(0, 0, { quotas: [{ tenantId: "t-a", resource: "gpu", max }] }),
    nodes: [gpuNode(0, 4), gpuNode(1, 8)],
  });

  it("takes all of another node, whose GPUs it is charged for", () => {
    const turn = turnOn(pool(8));
    const before = book(turn, { ...LEASE, devices: [{ class: "node", count: 1 }] });
    const [first] = nodesOf(before) as [NodeId];
    fail(turn, first);
    const [second] = nodesOf(now(turn, before)) as [NodeId];
    expect(second).not.toBe(first);
    expect(unitsOf(now(turn, before))).toEqual(turn.state.node(second)?.units.map(({ id }) => id));
    expect(now(turn, before).members[0]?.resources).toEqual(turn.state.node(second)?.scalars);
    const used = turn.state.usage("t-a", "gpu")?.peakFrom(NOW);
    expect(used).toBe(turn.state.node(second)?.units.length);
  });

  it("does not take a node whose GPUs its quota has no room for", () => {
    const turn = turnOn(pool(4));
    const before = book(turn, LEASE);
    expect(nodesOf(before)).toEqual([nodeId(0)]);
    fail(turn, nodeId(0));
    expect(now(turn, before)).toMatchObject({ members: before.members, degraded: {} });
  });
});

describe("a booking that waits for the end of a notice", () => {
  const AFTER_THE_VICTIM = { from: NOW + 1.5 * HOUR, to: NOW + 2 * HOUR };

  /** On node 0, where a spot booking of an hour is under notice for it; node 1 is free again. */
  function waiting(): { turn: TestTurn; victim: Reservation; newcomer: Reservation } {
    const turn = turnOn(gpuPool(2, 8));
    const other = book(turn, gpus(8, { devices: onNode(1, 8) }), "t-b");
    const victim = book(turn, gpus(8, { spot: true }));
    const newcomer = book(turn, gpus(8, { durationMs: 2 * HOUR }), "t-c");
    release(turn, other);
    expect(now(turn, victim).state).toBe("preempting");
    expect(nodesOf(newcomer)).toEqual([nodeId(0)]);
    return { turn, victim, newcomer };
  }
  function maintain(turn: TestTurn): void {
    accepted(scheduleMaintenance(turn, { nodeId: nodeId(0), ...AFTER_THE_VICTIM }));
    useFreed(turn);
  }

  it("goes elsewhere at the same time, and its victims keep what they had", () => {
    const { turn, victim, newcomer } = waiting();
    maintain(turn);
    expect(nodesOf(now(turn, newcomer))).toEqual([nodeId(1)]);
    expect(now(turn, newcomer).start).toBe(newcomer.start);
    expect(now(turn, victim)).toMatchObject({ state: "active", end: victim.end, preemption: null });
    expect(turn.takeEvents()).toContain("reservation.reprieved");
  });

  it("gives up what an early leaver had freed for it", () => {
    const { turn, victim, newcomer } = waiting();
    release(turn, victim);
    expect(now(turn, newcomer).pins).toHaveLength(1);
    maintain(turn);
    expect(now(turn, newcomer).pins).toEqual([]);
    expect(nodesOf(book(turn, gpus(8, { devices: onNode(0, 8) }), "t-b"))).toEqual([nodeId(0)]);
  });

  it("and one under notice is not moved, whether or not it has begun", () => {
    const { turn, victim } = waiting();
    sicken(turn, unitId(0, 0));
    expect(now(turn, victim)).toMatchObject({
      state: "preempting",
      members: victim.members,
      degraded: { cause: "UNHEALTHY" },
    });
  });

  it("and one under notice is no longer flagged for what comes after its end", () => {
    const turn = turnOn(gpuPool(1, 8));
    const victim = book(turn, gpus(8, { spot: true, durationMs: 4 * HOUR }));
    accepted(scheduleMaintenance(turn, { nodeId: nodeId(0), ...AFTER_THE_VICTIM }));
    expect(now(turn, victim).degraded).toMatchObject({ cause: "MAINTENANCE" });
    book(turn, gpus(8), "t-c");
    expect(now(turn, victim)).toMatchObject({ state: "preempting", degraded: null });
  });
});
