/** fast-check's pools and requests: small, odd, and full of the corners that rules have. */
import fc from "fast-check";
import { NO_SCALARS } from "../model.ts";
import type {
  DeviceLine,
  Maintenance,
  Node,
  PlaceRequest,
  PoolSnapshot,
  Reservation,
  Topology,
  Unit,
} from "../model.ts";
import {
  buildConfig,
  buildMaintenance,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
  buildUnit,
  inUnitOrder,
  unitIdOf,
} from "./builders.ts";
import { bruteIsFree, bruteScalarPeak } from "./brute-force.ts";

/** Times in tests run from 0 to here. */
export const LAST_INSTANT = 40;

const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const gpuTraits: fc.Arbitrary<Partial<Unit>> = fc.record({
  class: fc.constant("gpu" as const),
  model: mostly("H100", "A100"),
  memoryGiB: mostly(80, 40),
  nvlinkDomain: fc.constantFrom(null, "d0", "d0", "d1", "d1"),
  healthy: mostly(true, false),
  removed: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const vfTraits: fc.Arbitrary<Partial<Unit>> = fc.record({ class: fc.constant("nic.vf" as const) });
const diskTraits: fc.Arbitrary<Partial<Unit>> = fc.record({
  class: fc.constant("disk" as const),
  memoryGiB: fc.constantFrom(50, 4000),
});

export const windowArb: fc.Arbitrary<{ start: number; end: number }> = fc
  .tuple(fc.integer({ min: 0, max: LAST_INSTANT - 12 }), fc.integer({ min: 1, max: 10 }))
  .map(([start, length]) => ({ start, end: start + length }));

const maintenanceArb = (n: number): fc.Arbitrary<Maintenance[]> =>
  fc
    .array(windowArb, { maxLength: 2 })
    .map((windows) => windows.map((window, i) => buildMaintenance(n * 10 + i, window)));

/** @param n the node's number */
export function nodeArb(n: number): fc.Arbitrary<Node> {
  return fc
    .record({
      gpus: fc.array(gpuTraits, { minLength: 2, maxLength: 6 }),
      vfs: fc.array(vfTraits, { maxLength: 2 }),
      disks: fc.array(diskTraits, { maxLength: 2 }),
      state: mostly<Node["state"]>(
        "ready",
        "provisioning",
        "unhealthy",
        "maintenance",
        "unreachable",
      ),
      labels: fc.constantFrom<Record<string, string>>({}, { rack: "r1" }, { rack: "r2" }),
      scalars: fc.record({
        vcpu: fc.integer({ min: 0, max: 6 }),
        memoryGiB: fc.integer({ min: 0, max: 6 }),
        hugepages1Gi: fc.constant(0),
      }),
      maintenance: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, maintenanceArb(n)),
    })
    .map(({ gpus, vfs, disks, ...rest }) => {
      const units = [...gpus, ...vfs, ...disks].map((traits, i) => buildUnit(n, i, traits));
      return buildNode(n, {}, { ...rest, units: inUnitOrder(units) });
    });
}

/** What a booking would take; kept only where the units and amounts are free. */
interface Draw {
  node: number;
  bits: number;
  window: { start: number; end: number };
  vcpu: number;
  tenant: string;
}

const drawArb: fc.Arbitrary<Draw> = fc.record({
  node: fc.nat({ max: 9 }),
  bits: fc.integer({ min: 1, max: 1023 }),
  window: windowArb,
  vcpu: fc.nat({ max: 3 }),
  tenant: fc.constantFrom("t-a", "t-b"),
});

/** A reservation of the drawn units that are free; null when none are. */
export function bookingOf(snapshot: PoolSnapshot, n: number, draw: Draw): Reservation | null {
  const node = snapshot.nodes[draw.node % Math.max(1, snapshot.nodes.length)];
  if (!node) return null;
  const units = node.units.filter(
    (unit, i) => draw.bits & (1 << i) && !unit.removed && bruteIsFree(snapshot, unit, draw.window),
  );
  if (units.length === 0) return null;
  const used = bruteScalarPeak(snapshot, { node, scalar: "vcpu" }, draw.window);
  const vcpu = Math.max(0, Math.min(draw.vcpu, node.scalars.vcpu - used));
  const held = { node, unitIds: units.map((unit) => unit.id) };
  return buildReservation(n, held, {
    ...draw.window,
    tenantId: draw.tenant,
    chargedTenantId: draw.tenant,
    resources: { ...NO_SCALARS, vcpu },
  });
}

export const bookingDrawArb: fc.Arbitrary<Draw> = drawArb;
export type BookingDraw = Draw;

/** A pool at time 0, with bookings that never clash. */
export const poolArb: fc.Arbitrary<PoolSnapshot> = fc
  .record({
    nodes: fc
      .nat({ max: 3 })
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => nodeArb(n)))),
    draws: fc.array(drawArb, { maxLength: 14 }),
    policy: fc.constantFrom("pack" as const, "spread" as const),
  })
  .map(({ nodes, draws, policy }) => {
    let snapshot = buildSnapshot(nodes, [], buildConfig({ placement: policy }));
    draws.forEach((draw, n) => {
      const booked = bookingOf(snapshot, n, draw);
      if (booked) snapshot = { ...snapshot, reservations: [...snapshot.reservations, booked] };
    });
    return snapshot;
  });

const selectorArb = fc.record(
  {
    model: mostly("H100", "A100"),
    memoryGiB: fc.constantFrom(0, 40, 80),
    labels: fc.constantFrom({ rack: "r1" }, {}),
  },
  { requiredKeys: [] },
);

const lineArb: fc.Arbitrary<DeviceLine> = fc.record({
  class: fc.constantFrom("gpu", "gpu", "gpu", "gpu", "gpu", "nic.vf", "disk"),
  count: fc.constantFrom(1, 1, 1, 2, 2, 3),
  topology: mostly<Topology>("any", "nvlink-all"),
  selector: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, selectorArb),
});

/** A line that names units of node 0 by their numbers. */
const exactLineArb: fc.Arbitrary<DeviceLine> = fc
  .uniqueArray(fc.nat({ max: 5 }), { minLength: 1, maxLength: 3 })
  .map((numbers) => ({
    class: "gpu" as const,
    count: numbers.length,
    selector: { unitIds: numbers.map(unitIdOf) },
  }));

export const requestArb: fc.Arbitrary<PlaceRequest> = fc
  .record({
    devices: fc.array(fc.oneof({ weight: 12, arbitrary: lineArb }, exactLineArb), {
      minLength: 1,
      maxLength: 3,
    }),
    topology: mostly<Topology>("any", "nvlink-all"),
    vcpu: fc.constantFrom(0, 0, 0, 1, 2, 4),
    window: windowArb,
  })
  .map(({ devices, topology, vcpu, window }) =>
    buildRequest({ devices, topology, resources: { ...NO_SCALARS, vcpu }, ...window }),
  );
