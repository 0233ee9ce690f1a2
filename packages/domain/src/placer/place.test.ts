/** The placer by example: what people run into, with the answers they should get. */
import { describe, expect, test } from "vitest";
import type { UnitId } from "../ids.ts";
import type { Node, PlaceRequest, Reservation } from "../model.ts";
import { NO_SCALARS } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildMaintenance,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
} from "../testing/index.ts";
import { place } from "./place.ts";
import type { Candidate } from "./place.ts";

const gpus = (node: Node, from: number, count: number): UnitId[] =>
  node.units.slice(from, from + count).map((unit) => unit.id);

let serial = 0;
const book = (
  node: Node,
  unitIds: readonly UnitId[],
  window: { start: number; end: number },
): Reservation => buildReservation((serial += 1), { node, unitIds }, window);

function stateOf(nodes: readonly Node[], reservations: readonly Reservation[] = []): PoolState {
  return PoolState.load(buildSnapshot(nodes, reservations));
}

function candidates(state: PoolState, request: PlaceRequest): readonly Candidate[] {
  const placement = place(state, request);
  if (!placement.fits) throw new Error(placement.reason.message);
  return placement.candidates;
}

function reason(state: PoolState, request: PlaceRequest): { code: string; message: string } {
  const placement = place(state, request);
  if (placement.fits) throw new Error("it fits");
  return placement.reason;
}

describe("several lines", () => {
  const node = buildNode(0, { gpus: 8, vfs: 1 });
  const ask = (...counts: number[]): PlaceRequest =>
    buildRequest({ devices: counts.map((count) => ({ class: "gpu", count })) });

  test("are summed on one node: 5 + 5 of 8 is too many, whatever each alone would be", () => {
    expect(reason(stateOf([node]), ask(5, 5)).code).toBe("COUNT");
  });

  test("that just fit take as many distinct units", () => {
    const [first] = candidates(stateOf([node]), ask(4, 4));
    expect(new Set(first?.unitIds).size).toBe(8);
  });

  test("of different classes, in any order, are served together", () => {
    const devices = [
      { class: "gpu" as const, count: 4 },
      { class: "nic.vf" as const, count: 1 },
      { class: "gpu" as const, count: 4 },
    ];
    const [first] = candidates(stateOf([node]), buildRequest({ devices }));
    expect(first?.unitIds).toHaveLength(9);
    expect(candidates(stateOf([node]), ask(1, 1, 1, 1, 1, 1, 1, 1))[0]?.unitIds).toHaveLength(8);
  });

  test("of at least no memory are units of any kind, as if nothing had been said", () => {
    const devices = [
      { class: "gpu" as const, count: 1, selector: { memoryGiB: 0 } },
      { class: "nic.vf" as const, count: 1, selector: { memoryGiB: 0 } },
    ];
    expect(candidates(stateOf([node]), buildRequest({ devices }))[0]?.unitIds).toHaveLength(2);
  });

  test("that match nothing are named in the refusal", () => {
    const devices = [
      { class: "gpu" as const, count: 1, selector: { model: "B2OO", labels: { rack: "r9" } } },
      { class: "gpu" as const, count: 1, selector: { memoryGiB: 80 } },
    ];
    const refused = place(stateOf([node]), buildRequest({ devices }));
    expect(!refused.fits && refused.reason.message).toBe(
      "1 gpu + 1 gpu: 1 of 1 nodes does not match the selector (model B2OO, label rack, 1 more)",
    );
  });

  test("leave the choosy line its units: any first, one model second", () => {
    const units = node.units
      .slice(0, 2)
      .map((unit, i) => ({ ...unit, model: i === 0 ? "B200" : "H100" }));
    const devices = [
      { class: "gpu" as const, count: 1 },
      { class: "gpu" as const, count: 1, selector: { model: "B200" } },
    ];
    const [first] = candidates(stateOf([{ ...node, units }]), buildRequest({ devices }));
    expect(first?.unitIds).toHaveLength(2);
  });
});

describe("time", () => {
  const node = buildNode(0, { gpus: 1 });
  const hour = 3_600_000;
  const base = book(node, gpus(node, 0, 1), { start: hour, end: 2 * hour });
  const at = (start: number, end: number): boolean =>
    place(stateOf([node], [base]), buildRequest({ start, end })).fits;

  test.each([
    ["the same window", hour, 2 * hour],
    ["inside", hour + 1, 2 * hour - 1],
    ["around", hour - 1, 2 * hour + 1],
    ["over the start by 1 ms", 0, hour + 1],
    ["over the end by 1 ms", 2 * hour - 1, 3 * hour],
  ])("%s of a booking is taken", (_, start, end) => {
    expect(at(start, end)).toBe(false);
    expect(place(stateOf([node]), buildRequest({ start, end })).fits).toBe(true);
  });

  test("right before and right after a booking is free", () => {
    expect(at(0, hour)).toBe(true);
    expect(at(2 * hour, 3 * hour)).toBe(true);
  });

  test("bookings that follow each other do not add up, and a long window is refused if any instant is full", () => {
    const wide = buildNode(0, { gpus: 10 });
    const seven = gpus(wide, 0, 7);
    const chain = [0, 1, 2].map((n) => book(wide, seven, { start: n * hour, end: (n + 1) * hour }));
    const all = { start: 0, end: 3 * hour };
    const three = buildRequest({ devices: [{ class: "gpu", count: 3 }], ...all });
    const four = buildRequest({ devices: [{ class: "gpu", count: 4 }], ...all });
    expect(candidates(stateOf([wide], chain), three)[0]?.unitIds).toEqual(gpus(wide, 7, 3));
    expect(reason(stateOf([wide], chain), four).code).toBe("BUSY");
    const middle = [chain[1] as Reservation];
    expect(reason(stateOf([wide], middle), four).code).toBe("BUSY");
  });
});

describe("health", () => {
  test("a faulty unit that is booked does not keep the healthy one from being booked", () => {
    const node = buildNode(0, { gpus: 2 });
    const booking = book(node, gpus(node, 0, 1), { start: 0, end: 10 });
    const sick = { ...node, units: node.units.map((u, i) => ({ ...u, healthy: i !== 0 })) };
    const state = stateOf([sick], [booking]);
    expect(state.rollup()[0]).toMatchObject({
      resource: "gpu",
      total: 2,
      unhealthy: 1,
      available: 1,
    });
    expect(candidates(state, buildRequest())[0]?.unitIds).toEqual(gpus(node, 1, 1));
    const second = book(node, gpus(node, 1, 1), { start: 0, end: 10 });
    state.apply({ kind: "reservation", before: null, after: second });
    expect(reason(state, buildRequest()).code).toBe("BUSY");
    state.apply({ kind: "node", before: sick, after: node });
    expect(reason(state, buildRequest()).code).toBe("BUSY");
    state.apply({ kind: "node", before: node, after: sick });
    state.apply({ kind: "reservation", before: booking, after: { ...booking, state: "released" } });
    expect(place(state, buildRequest()).fits).toBe(false);
  });
});

describe("nvlink-all", () => {
  const node = buildNode(0, { gpus: 16, domainOf: 8 });
  const booked = [
    book(node, gpus(node, 0, 2), { start: 0, end: 10 }),
    book(node, gpus(node, 8, 6), { start: 0, end: 10 }),
  ];
  const ask = (count: number, topology: "any" | "nvlink-all"): PlaceRequest =>
    buildRequest({ devices: [{ class: "gpu", count }], topology });

  test("8 free in two domains are not 8 together, and the reason says so", () => {
    const state = stateOf([node], booked);
    const refusal = reason(state, ask(8, "nvlink-all"));
    expect(refusal).toMatchObject({
      code: "NVLINK",
      message: "8 gpu with nvlink-all: 1 of 1 nodes has no NVLink domain with 8 free gpu",
    });
    expect(candidates(state, ask(8, "any"))[0]?.unitIds).toHaveLength(8);
    expect(candidates(state, ask(6, "nvlink-all"))[0]?.unitIds).toEqual(gpus(node, 2, 6));
  });

  test("takes the tighter domain and keeps the whole one whole", () => {
    const state = stateOf([node], [booked[0] as Reservation]);
    expect(candidates(state, ask(4, "nvlink-all"))[0]?.unitIds).toEqual(gpus(node, 2, 4));
    expect(candidates(state, ask(8, "nvlink-all"))[0]?.unitIds).toEqual(gpus(node, 8, 8));
  });

  test("two linked lines may use two domains, a linked request may not", () => {
    const linked = { class: "gpu" as const, count: 6, topology: "nvlink-all" as const };
    const devices = [linked, { ...linked, count: 5 }];
    expect(candidates(stateOf([node]), buildRequest({ devices }))[0]?.unitIds).toHaveLength(11);
    const whole = buildRequest({ devices, topology: "nvlink-all" });
    expect(reason(stateOf([node]), whole).code).toBe("NVLINK");
  });

  test("one GPU needs no domain, two do", () => {
    const bare = buildNode(0, { gpus: 2, domainOf: 0 });
    expect(place(stateOf([bare]), ask(1, "nvlink-all")).fits).toBe(true);
    expect(reason(stateOf([bare]), ask(2, "nvlink-all")).code).toBe("NVLINK");
  });
});

describe("reasons", () => {
  test("name each cause with its nodes, most first, adding up to the pool", () => {
    const free = (n: number, more: Partial<Node> = {}): Node => buildNode(n, {}, more);
    const taken = Array.from({ length: 40 }, (_, n) => free(n));
    const down = [40, 41, 42].map((n) =>
      free(n, { maintenance: [buildMaintenance(n, { start: 5, end: 6 })] }),
    );
    const split = [43, 44].map((n) => buildNode(n, { gpus: 8, domainOf: 4 }));
    const bookings = taken.map((node) => book(node, gpus(node, 0, 1), { start: 0, end: 10 }));
    const request = buildRequest({ devices: [{ class: "gpu", count: 8 }], topology: "nvlink-all" });
    const placement = place(stateOf([...taken, ...down, ...split], bookings), request);
    expect(placement).toEqual({
      fits: false,
      reason: {
        code: "BUSY",
        message:
          "8 gpu with nvlink-all: 40 of 45 nodes are booked in this window, 3 are in maintenance in this window, 2 have no NVLink domain with 8 free gpu",
        blocked: [
          { cause: "BUSY", nodes: 40 },
          { cause: "MAINTENANCE", nodes: 3 },
          { cause: "NVLINK", nodes: 2 },
        ],
      },
    });
  });

  test("an empty pool says so", () => {
    expect(place(stateOf([]), buildRequest())).toEqual({
      fits: false,
      reason: { code: "EMPTY_POOL", message: "1 gpu: the pool has no nodes", blocked: [] },
    });
  });

  test.each(["gpu.mig", "gpu.slot"] as const)(
    "%s in an exclusive pool names the sharing mode",
    (kind) => {
      const refusal = reason(
        stateOf([buildNode(0)]),
        buildRequest({ devices: [{ class: kind, count: 1 }] }),
      );
      expect(refusal.code).toBe("CLASS");
      expect(refusal.message).toBe(
        `1 ${kind}: 1 of 1 nodes has no ${kind} units, as the pool's sharing mode is exclusive`,
      );
    },
  );

  test("gpu in a mig pool names the sharing mode", () => {
    const snapshot = buildSnapshot([buildNode(0)], [], buildConfig({}, { sharing: "mig" }));
    const refusal = reason(PoolState.load(snapshot), buildRequest());
    expect(refusal.code).toBe("CLASS");
    expect(refusal.message).toContain("sharing mode is mig");
  });

  test("a scalar that is short is named", () => {
    const request = buildRequest({ resources: { ...NO_SCALARS, vcpu: 97, memoryGiB: 8 } });
    expect(reason(stateOf([buildNode(0)]), request)).toMatchObject({
      code: "SCALAR",
      message: "1 gpu + 97 vcpu + 8 memoryGiB: 1 of 1 nodes has too little vcpu",
    });
  });

  test("a node that could never take it says why not, whatever its state", () => {
    const down = buildNode(0, { gpus: 4 }, { state: "unreachable" });
    const request = buildRequest({ devices: [{ class: "gpu", count: 8 }] });
    expect(reason(stateOf([down]), request).code).toBe("COUNT");
    expect(reason(stateOf([down]), buildRequest()).code).toBe("NODE_STATE");
  });

  test("units of another node than the rest are too few there", () => {
    const [a, b] = [buildNode(0), buildNode(1)];
    const unitIds = [...gpus(a, 0, 1), ...gpus(b, 0, 1)];
    const devices = [{ class: "gpu" as const, count: 2, selector: { unitIds } }];
    const refusal = place(stateOf([a, b, buildNode(2)]), buildRequest({ devices }));
    expect(refusal.fits ? [] : refusal.reason.blocked).toEqual([
      { cause: "COUNT", nodes: 2 },
      { cause: "SELECTOR", nodes: 1 },
    ]);
  });
});

describe("one more than there is", () => {
  test("63 of 64 free GPUs is refused in few steps, as are scattered pairs", () => {
    const eight = Array.from({ length: 8 }, (_, n) => buildNode(n));
    const first = eight[0] as Node;
    const one = book(first, gpus(first, 0, 1), { start: 0, end: 10 });
    const request = buildRequest({ devices: [{ class: "gpu", count: 64 }] });
    expect(reason(stateOf(eight, [one]), request).code).toBe("COUNT");
    const wide = buildNode(0, { gpus: 64, domainOf: 8 });
    expect(reason(stateOf([wide], [one]), request).code).toBe("BUSY");
  });

  test("a search over domains that could explode gives up within its budget", () => {
    const node = buildNode(0, { gpus: 64, domainOf: 3 });
    const line = { class: "gpu" as const, topology: "nvlink-all" as const };
    // 22 domains of 3, lines of 2 and 3: no line can share a domain with another.
    const devices = [3, 3, 3, 3, 2, 2, 2, 2].map((count) => ({ ...line, count }));
    const taken = node.units.filter((unit) => unit.index >= 18).map((unit) => unit.id);
    const request = buildRequest({ devices });
    expect(reason(stateOf([node], [book(node, taken, { start: 0, end: 10 })]), request).code).toBe(
      "BUSY",
    );
    const fewer = taken.slice(3);
    expect(reason(stateOf([node], [book(node, fewer, { start: 0, end: 10 })]), request).code).toBe(
      "NVLINK",
    );
  });
});

test("two thousand nodes split over two domains are each judged, not given up on", () => {
  const split = Array.from({ length: 2_000 }, (_, n) => buildNode(n, { gpus: 8, domainOf: 4 }));
  const whole = buildNode(2_000, { gpus: 8 });
  const line = { class: "gpu" as const, count: 3, topology: "nvlink-all" as const };
  const one = buildRequest({ devices: [{ ...line, count: 8 }] });
  const three = buildRequest({ devices: [line, line, { ...line, count: 2 }] });
  const taken = split.map((node) => book(node, gpus(node, 0, 1), { start: 0, end: 10 }));
  const state = stateOf([...split, whole], taken);
  for (const request of [one, three]) {
    expect(candidates(state, request).map((c) => c.nodeName)).toEqual(["n2000"]);
  }
});

describe("which node and units", () => {
  test("pack takes the node that is left with the least of use to others, spread the emptiest", () => {
    const nodes = [buildNode(0), buildNode(1), buildNode(2)];
    const [, half, nearlyFull] = nodes as [Node, Node, Node];
    const bookings = [
      book(half, gpus(half, 0, 4), { start: 0, end: 10 }),
      book(nearlyFull, gpus(nearlyFull, 0, 7), { start: 0, end: 10 }),
    ];
    const order = (policy: "pack" | "spread"): string[] => {
      const snapshot = buildSnapshot(nodes, bookings, buildConfig({ placement: policy }));
      return candidates(PoolState.load(snapshot), buildRequest()).map((c) => c.nodeName);
    };
    expect(order("pack")).toEqual(["n2", "n1", "n0"]);
    expect(order("spread")).toEqual(["n0", "n1", "n2"]);
  });

  test("equal nodes go by id, and at most ten are answered", () => {
    const state = stateOf(Array.from({ length: 12 }, (_, n) => buildNode(11 - n)));
    const names = candidates(state, buildRequest()).map((c) => c.nodeName);
    expect(names).toEqual(Array.from({ length: 10 }, (_, n) => `n${n}`));
  });

  test("the unit with the shortest free gap is taken first", () => {
    const node = buildNode(0, { gpus: 3, domainOf: 0 });
    const around = (unit: number, start: number, end: number): Reservation[] => [
      book(node, gpus(node, unit, 1), { start: start - 5, end: start }),
      book(node, gpus(node, unit, 1), { start: end, end: end + 5 }),
    ];
    const state = stateOf([node], [...around(0, 10, 40), ...around(1, 20, 30)]);
    const [first] = candidates(state, buildRequest({ start: 20, end: 30 }));
    expect(first?.unitIds).toEqual(gpus(node, 1, 1));
  });

  test("a line's unitIds are the units taken", () => {
    const node = buildNode(0);
    const unitIds = gpus(node, 3, 2);
    const devices = [
      { class: "gpu" as const, count: 1 },
      { class: "gpu" as const, count: 2, selector: { unitIds } },
    ];
    const [first] = candidates(stateOf([node, buildNode(1)]), buildRequest({ devices }));
    expect(first?.unitIds).toEqual([...gpus(node, 0, 1), ...unitIds]);
  });
});
