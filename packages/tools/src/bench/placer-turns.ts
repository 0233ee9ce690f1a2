/**
 * How long the searches that a server runs beside everything else hold it up: the longest stretch between
 * two pauses of each, on the pool on which the placer's limits are stated.
 */
import {
  earliestStartSteps,
  NO_SCALARS,
  type PlaceRequest,
  type PoolState,
  previewBooking,
  timelineSteps,
} from "@berth/domain";
import { type Figure, quantile } from "./figure.ts";
import { BUSY_DAY, DAY, HOUR, NOW, randomFrom } from "./placer-pool.ts";

/** A server lets others run this often, in ms. */
const TURN = 5;

type Steps = Generator<unknown, unknown, void>;

/** Each search is run so often; its stretches are the same each time, but for what other processes take. */
const RUNS = 4;

/** Figures of the longest stretch: the median of some draws, and the worst of them. */
export function measureTurns(state: PoolState, name: string, draws: number): Figure[] {
  const figure = { unit: "ms", direction: "lower" } as const;
  return Object.entries(searches(state)).flatMap(([kind, start]) => {
    const longest = Array.from({ length: draws }, (_, draw) => {
      const runs = Array.from({ length: RUNS }, () => stretches(start(randomFrom(draw))));
      const least = runs[0]?.map((_, i) => Math.min(...runs.map((run) => run[i] ?? Infinity)));
      return Math.max(...(least ?? []));
    });
    return [
      { ...figure, id: `${name}/turn-${kind}.p50`, value: quantile(longest, 0.5), aim: TURN },
      { ...figure, id: `${name}/turn-${kind}.max`, value: quantile(longest, 1), aim: TURN },
    ];
  });
}

/** Milliseconds between each two pauses. */
function stretches(steps: Steps): number[] {
  const took: number[] = [];
  for (;;) {
    const before = performance.now();
    const { done } = steps.next();
    took.push(performance.now() - before);
    if (done) return took;
  }
}

function searches(state: PoolState): Record<string, (random: () => number) => Steps> {
  const rack = { size: 16, topologyKey: "rack" };
  const linked = { devices: [{ class: "gpu", count: 8 }], topology: "nvlink-all" } as const;
  const preview = (random: () => number, more: object): Steps => {
    const start = NOW + BUSY_DAY + Math.floor(random() * 20 * HOUR);
    const free = { binding: "hold", gang: null, node: null, spot: false, resources: NO_SCALARS };
    const shape = { ...free, ...linked, start, durationMs: HOUR, ...more } as Parameters<
      typeof previewBooking
    >[2]["shape"];
    return previewBooking(state, NOW, { tenantId: "t-0", ancestors: [], shape });
  };
  const earliest = (random: () => number, more: Partial<PlaceRequest>): Steps => {
    const start = NOW + Math.floor(random() * 3 * DAY);
    const who = { binding: "hold", gang: null, spot: false, tenantId: "t-0" } as const;
    const request = { ...who, ...linked, resources: NO_SCALARS, start, end: start + 30 * DAY };
    const options = { horizonEnd: NOW + 366 * DAY };
    return earliestStartSteps(state, { ...request, ...more }, options);
  };
  return {
    // On the busy day nothing takes eight: spot bookings would have to go, and when does it fit otherwise?
    preview: (random) => preview(random, {}),
    "preview-gang": (random) => preview(random, { gang: rack }),
    "preview-lines": (random) => {
      const line = { class: "gpu", count: 2, topology: "nvlink-all" } as const;
      return preview(random, { topology: "any", devices: [line, line, line, line] });
    },
    earliest: (random) => earliest(random, {}),
    "earliest-gang": (random) => earliest(random, { gang: rack }),
    timeline: (random) => {
      const from = NOW + Math.floor(random() * 3) * DAY;
      return timelineSteps(state, { from, to: from + 7 * DAY, stepMinutes: 30 });
    },
  };
}
