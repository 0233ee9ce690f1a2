/** fast-check's pools of shared GPUs: MIG instances or slots on a few GPUs, some of them broken. */
import fc from "fast-check";
import {
  type DeviceLine,
  NO_SCALARS,
  type Node,
  type PlaceRequest,
  type PoolSnapshot,
} from "../model.ts";
import { bookingDrawArb, bookingOf, windowArb } from "./arbitraries.ts";
import {
  buildConfig,
  buildRequest,
  buildSharedNode,
  buildSnapshot,
  buildUnit,
  inUnitOrder,
} from "./builders.ts";

const rarely = fc.integer({ min: 0, max: 7 }).map((n) => n === 0);

const CUTS = [
  ["1g.10gb@6", "1g.10gb@5", "3g.40gb@0"],
  ["3g.40gb@4", "4g.40gb@0"],
  ["2g.20gb@4", "1g.10gb+me@6"],
  ["7g.80gb@0"],
  [],
] as const;

type Mode = "mig" | "mps" | "timeslice";

const gpuArb = (mode: Mode) =>
  fc.record({
    cut: mode === "mig" ? fc.constantFrom(...CUTS) : fc.integer({ min: 2, max: 3 }),
    broken: rarely,
    removed: rarely,
  });

function nodeArb(n: number, mode: Mode): fc.Arbitrary<Node> {
  return fc
    .record({
      gpus: fc.array(gpuArb(mode), { minLength: 1, maxLength: 3 }),
      /** Of its units, as bits. */
      broken: fc.nat({ max: 255 }),
      sound: fc.boolean(),
      disk: fc.boolean(),
      state: fc.constantFrom<Node["state"]>("ready", "ready", "ready", "unreachable"),
    })
    .map(({ gpus, broken, sound, disk, state }) => {
      const node = buildSharedNode(
        n,
        gpus.map(({ cut }) => cut),
        { state },
      );
      const parts = node.units.map((unit, i) => {
        const gpu = node.gpus.findIndex(({ id }) => id === unit.parentUnitId);
        const removed = gpus[gpu]?.removed ?? false;
        return { ...unit, removed, healthy: sound || (broken & (1 << i)) === 0 };
      });
      const disks = disk ? [buildUnit(n, 800, { class: "disk", memoryGiB: 100 })] : [];
      return {
        ...node,
        units: inUnitOrder([...parts, ...disks]),
        gpus: node.gpus.map((gpu, g) => {
          const { broken: faulty, removed } = gpus[g] as (typeof gpus)[number];
          return { ...gpu, healthy: !faulty, removed };
        }),
      };
    });
}

/** A pool at time 0 that shares its GPUs out, with bookings that never clash. */
export const sharedPoolArb: fc.Arbitrary<PoolSnapshot> = fc
  .record({
    mode: fc.constantFrom<Mode>("mig", "mig", "mps", "timeslice"),
    count: fc.nat({ max: 3 }),
    placement: fc.constantFrom("pack" as const, "spread" as const),
    draws: fc.array(bookingDrawArb, { maxLength: 10 }),
  })
  .chain(({ mode, count, placement, draws }) =>
    fc.tuple(...Array.from({ length: count }, (_, n) => nodeArb(n, mode))).map((nodes) => {
      const config = buildConfig({ placement }, { sharing: mode });
      let snapshot = buildSnapshot(nodes, [], config);
      draws.forEach((draw, n) => {
        const booked = bookingOf(snapshot, n, draw);
        if (booked) snapshot = { ...snapshot, reservations: [...snapshot.reservations, booked] };
      });
      return snapshot;
    }),
  );

const lineArb = (mode: Mode): fc.Arbitrary<DeviceLine> =>
  fc.record({
    class: fc.constantFrom(
      ...Array<DeviceLine["class"]>(6).fill(mode === "mig" ? "gpu.mig" : "gpu.slot"),
      "gpu",
      "disk",
    ),
    count: fc.constantFrom(1, 1, 2, 3),
    selector: fc.oneof(
      fc.constant(undefined),
      fc.record(
        {
          profile: fc.constantFrom("1g.10gb", "3g.40gb", "1g.10gb+me"),
          memoryGiB: fc.constantFrom(10, 40, 100),
        },
        { requiredKeys: [] },
      ),
    ),
  });

/** A request of what such a pool may have; sometimes of what it never has. */
export const sharedRequestArb: fc.Arbitrary<PlaceRequest> = fc
  .record({
    devices: fc
      .constantFrom<Mode>("mig", "timeslice")
      .chain((mode) => fc.array(lineArb(mode), { minLength: 1, maxLength: 3 })),
    window: windowArb,
  })
  .map(({ devices, window }) => buildRequest({ devices, resources: NO_SCALARS, ...window }));
