/**
 * fast-check's pools and requests with all there is: exclusive and shared GPUs, topology labels, unit
 * reservations, pins; gangs, whole nodes, spot. Small enough for brute force.
 */
import fc from "fast-check";
import { NO_SCALARS } from "../model.ts";
import type { UnitReservation } from "../claims.ts";
import type {
  DeviceLine,
  Gang,
  Node,
  PlaceRequest,
  PoolSnapshot,
  Reservation,
  Unit,
} from "../model.ts";
import {
  LAST_INSTANT,
  bookingDrawArb,
  bookingOf,
  nodeArb,
  requestArb,
  windowArb,
} from "./arbitraries.ts";
import { bruteIsFree, bruteScalarPeak } from "./brute-force.ts";
import {
  buildConfig,
  buildRequest,
  buildSnapshot,
  buildUnitReservation,
  unitIdOf,
} from "./builders.ts";
import { sharedPoolArb } from "./shared-pools.ts";

interface Fence {
  readonly node: number;
  readonly units: number;
  readonly released: number;
  readonly window: { readonly start: number; readonly end: number };
  readonly open: boolean;
  readonly audience: readonly string[];
  readonly review: boolean;
}

const fenceArb: fc.Arbitrary<Fence> = fc.record({
  node: fc.nat({ max: 2 }),
  units: fc.integer({ min: 1, max: 63 }),
  released: fc.constantFrom(0, 0, 1, 3, 63),
  window: windowArb,
  open: fc.constantFrom(false, false, true),
  audience: fc.constantFrom(["t-own"], ["t-a", "t-own"], ["t-b", "t-own"]),
  review: fc.constantFrom(false, false, false, true),
});

/** GPUs of one node; null when it has none. */
function fenceOf(snapshot: PoolSnapshot, n: number, fence: Fence): UnitReservation | null {
  const node = snapshot.nodes[fence.node];
  const picked = (bits: number) => (_: unknown, i: number) => (bits & (1 << i)) !== 0;
  const gpus = node?.units.filter((unit) => unit.class === "gpu").filter(picked(fence.units)) ?? [];
  if (!node || gpus.length === 0) return null;
  const { start, end } = fence.window;
  return buildUnitReservation(n, {
    nodeId: node.id,
    status: fence.review ? "needs-review" : start > 0 ? "pending" : "active",
    allowedOrgIds: fence.audience,
    unitIds: gpus.map((unit) => unit.id),
    releasedUnitIds: gpus.filter(picked(fence.released)).map((unit) => unit.id),
    startsAt: start,
    endsAt: fence.open ? null : end + 4,
  });
}

/** A scheduled booking whose victims left early, where its units are free before it. */
function withPin(snapshot: PoolSnapshot, before: Reservation, early: number): Reservation {
  const [member] = before.members;
  const node = snapshot.nodes.find(({ id }) => id === member?.nodeId);
  const window = { start: before.start - early, end: before.start };
  if (!member || !node || before.startedAt !== null || early === 0 || window.start < 0)
    return before;
  const units = node.units.filter((unit) => member.unitIds.includes(unit.id));
  const used = bruteScalarPeak(snapshot, { node, scalar: "vcpu" }, window);
  const isFree = units.every((unit) => bruteIsFree(snapshot, unit, window));
  if (!isFree || used + member.resources.vcpu > node.scalars.vcpu) return before;
  const pin = { nodeId: node.id, unitIds: member.unitIds, from: window.start };
  return { ...before, pins: [{ ...pin, resources: member.resources }] };
}

/** Bookings of an exclusive pool, at time 0. */
const exclusivePoolArb: fc.Arbitrary<PoolSnapshot> = fc
  .record({
    nodes: fc.tuple(nodeArb(0), nodeArb(1), nodeArb(2), nodeArb(3)),
    count: fc.constantFrom(0, 2, 3, 3, 4, 4),
    draws: fc.array(bookingDrawArb, { maxLength: 12 }),
    placement: fc.constantFrom("pack" as const, "spread" as const),
  })
  .map(({ nodes, count, draws, placement }) => {
    let snapshot = buildSnapshot(nodes.slice(0, count), [], buildConfig({ placement }));
    draws.forEach((draw, n) => {
      const booked = bookingOf(snapshot, n, draw);
      if (booked) snapshot = { ...snapshot, reservations: [...snapshot.reservations, booked] };
    });
    return snapshot;
  });

/** Nothing of it is broken, gone or down. */
function sound(node: Node): Node {
  const mend = (unit: Unit): Unit => ({ ...unit, healthy: true, removed: false });
  return { ...node, state: "ready", units: node.units.map(mend), gpus: node.gpus.map(mend) };
}

const widePoolArb: fc.Arbitrary<PoolSnapshot> = fc
  .record({
    pool: fc.oneof(
      { weight: 3, arbitrary: exclusivePoolArb },
      { weight: 1, arbitrary: sharedPoolArb },
    ),
    broken: fc.constantFrom(0, 0, 0, 1, 2, 15),
    racks: fc.array(fc.constantFrom("r1", "r1", "r2", null), { minLength: 4, maxLength: 4 }),
    fences: fc.array(fenceArb, { maxLength: 3 }),
    early: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 }),
  })
  .map(({ pool, broken, racks, fences, early }) => {
    const nodes = pool.nodes.map((node, n) => {
      const rack = racks[n] ?? null;
      const labels: Node["labels"] = rack === null ? {} : { rack };
      return { ...(broken & (1 << n) ? node : sound(node)), labels };
    });
    let snapshot: PoolSnapshot = { ...pool, nodes };
    pool.reservations.forEach((booked, n) => {
      const next = withPin(snapshot, booked, early[n] ?? 0);
      const reservations = snapshot.reservations.map((r) => (r.id === next.id ? next : r));
      snapshot = { ...snapshot, reservations };
    });
    const unitReservations = fences.flatMap((fence, n) => fenceOf(snapshot, n, fence) ?? []);
    return { ...snapshot, unitReservations };
  });

const gangArb: fc.Arbitrary<Gang> = fc.record({
  size: fc.constantFrom(2, 2, 3, 4),
  topologyKey: fc.constantFrom(undefined, "rack"),
});

const nodeLineArb: fc.Arbitrary<DeviceLine> = fc.record({
  class: fc.constant("node" as const),
  count: fc.constantFrom(1, 1, 2, 3),
  selector: fc.constantFrom<DeviceLine["selector"]>(
    undefined,
    undefined,
    undefined,
    { labels: { rack: "r1" } },
    { model: "H100" },
    { memoryGiB: 80 },
  ),
});

/** GPUs of an exclusive pool, or what another mode makes of them. */
const gpuLineArb: fc.Arbitrary<DeviceLine> = fc.record({
  class: fc.constantFrom("gpu", "gpu", "gpu", "gpu", "disk"),
  count: fc.constantFrom(1, 1, 1, 2, 2, 3),
  topology: fc.constantFrom("any", "any", "nvlink-all"),
  selector: fc.constantFrom<DeviceLine["selector"]>(
    undefined,
    undefined,
    undefined,
    { memoryGiB: 80 },
    { unitIds: [unitIdOf(0)] },
  ),
});

const holdArb: fc.Arbitrary<PlaceRequest> = fc
  .record({
    devices: fc.array(gpuLineArb, { minLength: 1, maxLength: 2 }),
    vcpu: fc.constantFrom(0, 0, 0, 1, 2),
    window: windowArb,
  })
  .map(({ devices, vcpu, window }) =>
    buildRequest({ devices, resources: { ...NO_SCALARS, vcpu }, ...window }),
  );

const wideRequestArb: fc.Arbitrary<PlaceRequest> = fc
  .record({
    hold: fc.oneof({ weight: 4, arbitrary: holdArb }, { weight: 1, arbitrary: requestArb }),
    whole: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, nodeLineArb),
    gang: fc.option(gangArb, { freq: 2 }),
    spot: fc.boolean(),
    tenantId: fc.constantFrom("t-a", "t-b"),
  })
  .map(({ hold, whole, gang, spot, tenantId }) => {
    const asked = { ...hold, spot, tenantId, gang };
    if (!whole) return gang ? { ...asked, devices: hold.devices.slice(0, 2) } : asked;
    const line = gang ? { ...whole, count: 1 } : whole;
    return {
      ...asked,
      binding: "node",
      devices: [line],
      resources: NO_SCALARS,
    };
  });

/** What the pool's sharing mode has in the place of GPUs; linked units are left as they are. */
function inMode(snapshot: PoolSnapshot, request: PlaceRequest): PlaceRequest {
  const mode = snapshot.config?.sharing ?? "exclusive";
  if (mode === "exclusive" || request.start % 7 === 0) return request;
  const kind = mode === "mig" ? "gpu.mig" : "gpu.slot";
  const devices = request.devices.map((line): DeviceLine => {
    return line.class === "gpu" ? { class: kind, count: line.count } : line;
  });
  return { ...request, devices };
}

/** A pool and what is asked of it, at most four members. */
export const wideArb: fc.Arbitrary<{
  readonly snapshot: PoolSnapshot;
  readonly request: PlaceRequest;
}> = fc
  .record({ snapshot: widePoolArb, request: wideRequestArb })
  .map(({ snapshot, request }) => ({ snapshot, request: inMode(snapshot, request) }));

export const wideHorizonArb: fc.Arbitrary<number> = fc.integer({ min: 0, max: LAST_INSTANT + 5 });
