/**
 * A node that is told from its row of booked units takes what a node does that is asked booking by booking. Nodes
 * of more than 32 units have no row: the same pool with idle disks on each node is placed in without them.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, PoolSnapshot } from "../model.ts";
import { BITS } from "../state/busy-times.ts";
import { PoolState } from "../state/pool-state.ts";
import { buildConfig, buildNode, buildRequest, buildReservation } from "../testing/index.ts";
import { buildSnapshot, buildUnit, wideArb } from "../testing/index.ts";
import { place } from "./place.ts";

/** Units of a builder's node with numbers from here are nobody else's. */
const DISKS_FROM = 500;

function withDisks(snapshot: PoolSnapshot): PoolSnapshot {
  const nodes = snapshot.nodes.map((node, n): Node => {
    const disks = Array.from({ length: BITS }, (_, i) =>
      buildUnit(n, DISKS_FROM + i, { class: "disk", memoryGiB: 3_500 }),
    );
    return { ...node, units: [...node.units, ...disks] };
  });
  return { ...snapshot, nodes };
}

test("whatever is asked of any pool, rows or none, the same units are taken at the same score", () => {
  fc.assert(
    fc.property(wideArb, ({ snapshot, request }) => {
      fc.pre(request.binding === "hold" && request.devices.every((line) => line.class !== "disk"));
      const byRows = place(PoolState.load(snapshot), request);
      expect(byRows).toEqual(place(PoolState.load(withDisks(snapshot)), request));
    }),
    { numRuns: 600 },
  );
});

const GPUS = 8;
const nodes = Array.from({ length: 3 }, (_, n) => buildNode(n, { gpus: GPUS }));

const jobArb = fc.record({
  gap: fc.nat(3),
  length: fc.integer({ min: 1, max: 6 }),
});
/** Of each GPU of each node, its bookings one after the other. */
const jobsArb = fc.array(fc.array(jobArb, { maxLength: 4 }), { maxLength: GPUS * nodes.length });

test("bookings that come and go during a window are weighed alike, instant by instant", () => {
  fc.assert(
    fc.property(jobsArb, fc.nat(20), fc.integer({ min: 1, max: 20 }), (jobs, start, length) => {
      let booked = 0;
      const reservations = jobs.flatMap((ofGpu, gpu) => {
        const node = nodes[Math.floor(gpu / GPUS)] as Node;
        const unitIds = node.units.slice(gpu % GPUS, (gpu % GPUS) + 1).map(({ id }) => id);
        let end = 0;
        return ofGpu.map((job) => {
          const window = { start: end + job.gap, end: (end += job.gap + job.length) };
          return buildReservation((booked += 1), { node, unitIds }, window);
        });
      });
      const snapshot = buildSnapshot(nodes, reservations, buildConfig());
      const devices = [{ class: "gpu" as const, count: 1 + (length % 3) }];
      const request = buildRequest({ devices, start, end: start + length });
      const byRows = place(PoolState.load(snapshot), request);
      expect(byRows).toEqual(place(PoolState.load(withDisks(snapshot)), request));
    }),
    { numRuns: 400 },
  );
});
