/** Which node a person gets: what the pool was asked for so far decides what is worth keeping whole. */
import { describe, expect, it } from "vitest";
import { NO_SCALARS } from "../model.ts";
import type { Node, PlaceRequest, Reservation } from "../model.ts";
import { PoolState } from "../state/pool-state.ts";
import {
  buildConfig,
  buildNode,
  buildRequest,
  buildReservation,
  buildSnapshot,
} from "../testing/index.ts";
import { place } from "./place.ts";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const WINDOW = { start: NOW, end: NOW + HOUR };

let numbers = 0;
function book(node: Node, gpus: readonly number[], more: Partial<Reservation> = {}): Reservation {
  const unitIds = gpus.map((gpu) => node.units[gpu]?.id).filter((id) => id !== undefined);
  numbers += 1;
  return buildReservation(numbers, { node, unitIds }, { ...WINDOW, ...more });
}

function poolOf(nodes: readonly Node[], reservations: readonly Reservation[]): PoolState {
  return PoolState.load(buildSnapshot(nodes, reservations, buildConfig()));
}

/** The name of the node that a request gets. */
function chosen(state: PoolState, gpus: number, more: Partial<PlaceRequest> = {}): string {
  const devices = [{ class: "gpu" as const, count: gpus }];
  const placed = place(state, buildRequest({ devices, ...WINDOW, ...more }), { candidatesMax: 1 });
  if (!placed.fits) throw new Error(placed.reason.message);
  return placed.candidates[0]?.nodeName ?? "";
}

const far = { start: NOW + 900 * HOUR, end: NOW + 901 * HOUR };
const vcpu = (amount: number) => ({ resources: { ...NO_SCALARS, vcpu: amount } });

describe("whoever asks for a part of a node", () => {
  it("leaves nodes whole on which nothing is booked yet", () => {
    const nodes = [0, 1].map((n) => buildNode(n));
    expect(chosen(poolOf(nodes, []), 1)).toBe("n0");
    const state = poolOf(nodes, [book(nodes[1] as Node, [0, 1, 2, 3])]);
    expect(chosen(state, 1)).toBe("n1");
    expect(chosen(state, 8)).toBe("n0");
  });

  it("leaves together what this pool's bookings ask for, usual or not", () => {
    const nodes = [0, 1, 2].map((n) => buildNode(n, { gpus: 6 }));
    // Three are free on the first, two on the second.
    const taken = [book(nodes[0] as Node, [0, 1, 2]), book(nodes[1] as Node, [0, 1, 2, 3])];
    const others = [0, 3].flatMap((gpu) =>
      Array.from({ length: 40 }, (_, n) => {
        const later = { start: far.start + n * HOUR, end: far.end + n * HOUR };
        return book(nodes[2] as Node, [gpu, gpu + 1, gpu + 2], later);
      }),
    );
    const state = poolOf(nodes, [...taken, ...others]);
    expect(chosen(state, 1)).toBe("n1");
    expect(chosen(state, 3)).toBe("n0");
  });

  it("goes, when it needs few CPUs, where those are short for what others ask", () => {
    const nodes = [0, 1, 2].map((n) => buildNode(n));
    // Both have four GPUs left, the second almost no CPUs.
    const taken = [
      book(nodes[0] as Node, [0, 1, 2, 3], vcpu(8)),
      book(nodes[1] as Node, [0, 1, 2, 3], vcpu(92)),
    ];
    const others = Array.from({ length: 60 }, (_, n) => {
      const later = { start: far.start + n * HOUR, end: far.end + n * HOUR };
      return book(nodes[2] as Node, [0], { ...later, ...vcpu(12) });
    });
    const state = poolOf(nodes, [...taken, ...others]);
    expect(chosen(state, 1, vcpu(1))).toBe("n1");
    expect(chosen(state, 1, vcpu(12))).toBe("n0");
  });

  it("counts what becomes free during its window", () => {
    const nodes = [0, 1].map((n) => buildNode(n));
    // Four are free for the whole of both windows; on the first soon all eight are.
    const state = poolOf(nodes, [
      book(nodes[0] as Node, [0, 1, 2, 3], { start: NOW, end: NOW + HOUR }),
      book(nodes[1] as Node, [0, 1, 2, 3], { start: NOW, end: NOW + 50 * HOUR }),
    ]);
    expect(chosen(state, 1, { start: NOW, end: NOW + 50 * HOUR })).toBe("n1");
  });

  it("fills, of equals, the gap that it fits best", () => {
    const nodes = [0, 1].map((n) => buildNode(n, { gpus: 1 }));
    const state = poolOf(nodes, [
      book(nodes[0] as Node, [0], { start: NOW + 9 * HOUR, end: NOW + 10 * HOUR }),
      book(nodes[1] as Node, [0], { start: NOW + HOUR, end: NOW + 10 * HOUR }),
    ]);
    expect(chosen(state, 1)).toBe("n1");
  });
});

it("forgets what was asked for once it is over: a pool without bookings is as it was at first", () => {
  const nodes = [0, 1].map((n) => buildNode(n));
  const state = poolOf(nodes, []);
  const usual = state.demand;
  const one = book(nodes[0] as Node, [0, 1, 2], vcpu(7));
  state.apply({ kind: "reservation", before: null, after: one });
  expect(state.demand).not.toEqual(usual);
  state.apply({ kind: "reservation", before: one, after: { ...one, state: "completed" } });
  expect(state.demand).toEqual(usual);
});
