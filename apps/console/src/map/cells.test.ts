import type { NodeSchedule, Span, UnitSchedule } from "@berth/client";
import { describe, expect, it } from "vitest";
import { freeOf, partsFree, rowOf, rowsOf } from "./cells.ts";
import { someNode, someUnit } from "./test-kit.ts";

const NOW = 1_000;

const unit = (given: Partial<UnitSchedule> = {}): UnitSchedule =>
  someUnit({ model: "H100", memoryGiB: 80, ...given });

const node = (given: Partial<NodeSchedule> = {}): NodeSchedule =>
  someNode({ labels: { rack: "r1" }, units: [unit()], ...given });

function span(kind: Span["kind"], start: number, end: number, reservationId?: string): Span {
  return { kind, start, end, reservationId: reservationId ?? null };
}

const cellWith = (given: Partial<UnitSchedule>, on: Partial<NodeSchedule> = {}) =>
  rowOf(node({ units: [unit(given)], ...on }), {
    now: NOW,
    spot: new Set(["rsv_spot"]),
    market: new Set(["unit_sold"]),
  }).cells[0];

describe("a cell", () => {
  it("is what runs at this instant, to the millisecond", () => {
    expect(cellWith({ spans: [span("busy", 0, NOW)] })?.state).toBe("free");
    expect(cellWith({ spans: [span("busy", NOW, NOW + 1)] })?.state).toBe("booked");
    expect(cellWith({ spans: [span("busy", NOW + 1, NOW + 9)] })).toMatchObject({
      state: "later",
      until: NOW + 1,
    });
  });

  it("tells own from others', and own spot from own regular", () => {
    expect(cellWith({ spans: [span("mine", 0, 2_000, "rsv_a")] })).toMatchObject({
      state: "mine",
      reservationId: "rsv_a",
      until: 2_000,
    });
    expect(cellWith({ spans: [span("mine", 0, 2_000, "rsv_spot")] })?.state).toBe("spot");
    expect(cellWith({ spans: [span("busy", 0, 2_000)] })).toMatchObject({
      state: "booked",
      reservationId: null,
    });
  });

  it("shows what is booked on a unit that is set aside, then whether that is sold", () => {
    const term = span("withheld", 0, 9_000);
    expect(cellWith({ spans: [term] })?.state).toBe("withheld");
    expect(cellWith({ id: "unit_sold", spans: [term] })?.state).toBe("market");
    expect(cellWith({ spans: [term, span("busy", 0, 2_000)] })?.state).toBe("booked");
  });

  it("is down on a node that is not ready unless something runs on it, and when faulty", () => {
    expect(cellWith({}, { state: "unreachable" })?.state).toBe("down");
    expect(cellWith({ spans: [span("busy", 0, 2_000)] }, { state: "unhealthy" })?.state).toBe(
      "booked",
    );
    expect(cellWith({ healthy: false, spans: [span("busy", 0, 2_000)] })?.state).toBe("down");
    // Whoever has it sees that first: the facts say that it is degraded.
    expect(cellWith({ healthy: false, spans: [span("mine", 0, 2_000, "rsv_a")] })?.state).toBe(
      "mine",
    );
  });

  it("is in maintenance while the window runs", () => {
    expect(cellWith({ spans: [span("maintenance", 0, 5_000)] })).toMatchObject({
      state: "maintenance",
      until: 5_000,
    });
  });

  it("says of its parts which are free, and takes the state that concerns the viewer most", () => {
    const part = (index: number, spans: Span[]): UnitSchedule =>
      unit({
        id: `part_${index}`,
        class: "gpu.mig",
        index,
        profile: "1g.10gb",
        placement: 6 - index,
        parentUnitId: "unit_a",
        spans,
      });
    const row = rowOf(
      node({
        units: [
          unit(),
          part(0, [span("busy", 0, 2_000)]),
          part(1, [span("mine", 0, 2_000, "rsv_a")]),
          part(2, []),
        ],
      }),
      { now: NOW },
    );
    const [cell] = row.cells;
    expect(row.cells).toHaveLength(1);
    expect(cell).toMatchObject({ state: "mine", reservationId: "rsv_a" });
    // By where they sit on the GPU, not by number.
    expect(cell?.parts.map(({ unitId }) => unitId)).toEqual(["part_2", "part_1", "part_0"]);
    expect(cell && partsFree(cell)).toEqual({ free: 1, used: 2 });
  });
});

describe("a GPU of which only the parts are listed", () => {
  it("is a cell that is told by them", () => {
    const part = (index: number, gpu: string, spans: Span[] = []): UnitSchedule =>
      unit({
        id: `part_${index}`,
        class: "gpu.mig",
        index,
        profile: "3g.40gb",
        parentUnitId: gpu,
        spans,
      });
    const row = rowOf(
      node({
        units: [
          part(2, "gpu_b"),
          part(0, "gpu_a", [span("busy", 0, 2_000)]),
          part(1, "gpu_a"),
          part(3, "gpu_b"),
        ],
      }),
      { now: NOW },
    );
    expect(row.cells.map(({ index, state, unitId }) => ({ index, state, unitId }))).toEqual([
      { index: 0, state: "booked", unitId: "gpu_a" },
      { index: 1, state: "free", unitId: "gpu_b" },
    ]);
    expect(freeOf(row.cells)).toEqual({ free: 3, all: 4, noun: "part" });
    expect(freeOf([])).toEqual({ free: 0, all: 0, noun: "GPU" });
  });
});

describe("rows", () => {
  it("are by group and name as people count", () => {
    const make = (name: string, rack: string): NodeSchedule =>
      node({ id: `node_${name}`, name, labels: { rack } });
    const rows = rowsOf(
      [make("n-10", "r2"), make("n-9", "r10"), make("n-2", "r2"), make("n-1", "r10")],
      { now: NOW },
    );
    expect(rows.map(({ group, name }) => `${group} ${name}`)).toEqual([
      "r2 n-2",
      "r2 n-10",
      "r10 n-1",
      "r10 n-9",
    ]);
  });

  it("have GPUs in order of their numbers and nothing that is no GPU", () => {
    const row = rowOf(
      node({
        units: [
          unit({ id: "c", index: 10 }),
          unit({ id: "a", index: 0 }),
          unit({ id: "nic", class: "nic.vf", index: 0 }),
          unit({ id: "b", index: 2, nvlinkDomain: "nvl-7" }),
        ],
      }),
      { now: NOW },
      "nvlink",
    );
    expect(row.cells.map(({ unitId }) => unitId)).toEqual(["a", "b", "c"]);
    expect(row.group).toBe("nvl-7");
  });

  it("stay the same until something begins or ends, and are made anew then", () => {
    const nodes = [
      node({ id: "a", name: "a", units: [unit({ spans: [span("busy", NOW + 10, NOW + 20)] })] }),
      node({ id: "b", name: "b" }),
    ];
    const first = rowsOf(nodes, { now: NOW });
    expect(rowsOf(nodes, { now: NOW + 9 })).toBe(first);
    const begun = rowsOf(nodes, { now: NOW + 10 });
    expect(begun[0]?.cells[0]?.state).toBe("booked");
    expect(begun[1]).toBe(first[1]);
    expect(rowsOf(nodes, { now: NOW + 20 })[0]?.cells[0]?.state).toBe("free");
    // What is known beside the spans counts as well.
    const market = new Set(["unit_a"]);
    expect(rowsOf(nodes, { now: NOW + 20, market })[1]).not.toBe(first[1]);
  });
});
