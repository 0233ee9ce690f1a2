/** Who is served first. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Waiter } from "../claims.ts";
import { NO_SCALARS } from "../model.ts";
import { reservationIdOf } from "../testing/index.ts";
import { WaitingLine } from "./waiting-line.ts";

const waiter = (n: number, priority: number, since: number): Waiter => ({
  id: reservationIdOf(n),
  poolId: "pool_00000000000000000000000001",
  tenantId: `t-${n % 3}`,
  ancestors: [],
  priority,
  since,
  deadline: since + 100,
  serverId: "s",
  key: null,
  ask: {
    binding: "hold",
    gang: null,
    node: null,
    spot: false,
    devices: [{ class: "gpu", count: 1 }],
    topology: "any",
    resources: NO_SCALARS,
    start: null,
    durationMs: 1,
    projectId: null,
    leaseSeconds: null,
    createdBy: "c",
  },
});

test("the line is by priority, then age, then id, whatever came and went", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(9), fc.integer({ min: -2, max: 2 }), fc.nat(3), fc.boolean())),
      (steps) => {
        const line = new WaitingLine();
        const model = new Map<string, Waiter>();
        for (const [n, priority, since, comes] of steps) {
          const one = waiter(n, priority, since);
          line.set(one.id, comes ? one : null);
          if (comes) model.set(one.id, one);
          else model.delete(one.id);
        }
        const expected = [...model.values()].sort(
          (a, b) => b.priority - a.priority || a.since - b.since || (a.id < b.id ? -1 : 1),
        );
        expect(line.all()).toEqual(expected);
        for (const tenantId of ["t-0", "t-1", "t-2"])
          expect(line.countOf(tenantId)).toBe(
            expected.filter((one) => one.tenantId === tenantId).length,
          );
      },
    ),
  );
});
