/**
 * How fast the placer answers: pools of 100 to 10,000 nodes × 8 GPUs, empty to nearly full, with up to
 * 100,000 bookings to come. Sizes, kinds of question and limits are fixed; the draws are seeded.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { earliestStart, findVictims, place, PoolState, timeline } from "@berth/domain";
import type { PlaceRequest } from "@berth/domain";
import { quantile } from "./figure.ts";
import type { Figure } from "./figure.ts";
import { measureTurns } from "./placer-turns.ts";
import { BUSY_DAY, DAY, HOUR, NOW, migPool, randomFrom, syntheticPool } from "./placer-pool.ts";
import type { PoolSize } from "./placer-pool.ts";

const NO_SCALARS = { vcpu: 0, memoryGiB: 0, hugepages1Gi: 0 };

/** The pool on which the limits are stated. */
const STATED: PoolSize = { nodes: 10_000, full: 50, future: 100_000 };
/** The same with a tenth of the bookings. */
const FEWER: PoolSize = { ...STATED, future: 10_000 };
/** Limits of the 99th percentile there, in ms. */
const MUST: Readonly<Record<string, number>> = {
  "place-1": 1,
  "place-8-nvlink": 1,
  "gang-16x8-rack": 10,
  "refuse-count": 2,
  "refuse-busy": 2,
  "earliest-start": 20,
  timeline: 20,
};

export function run(options: { readonly quick: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of sizes(options.quick)) figures.push(...measurePool(size, options.quick));
  figures.push(...growth(figures), residentOf(STATED));
  figures.push(...measureMig(options.quick));
  return Promise.resolve(figures);
}

function sizes(quick: boolean): PoolSize[] {
  if (quick) {
    return [
      { nodes: 100, full: 50, future: 10_000 },
      { nodes: 1_000, full: 50, future: 10_000 },
      FEWER,
      STATED,
    ];
  }
  const all: PoolSize[] = [];
  for (const nodes of [100, 1_000, 10_000]) {
    for (const full of [0, 50, 95]) {
      for (const future of [0, 10_000, 100_000]) all.push({ nodes, full, future });
    }
  }
  return all;
}

/**
 * What ten times the bookings cost a placement of one GPU: a search over all of them would say ten, the logarithms
 * of their numbers five fourths.
 */
function growth(figures: readonly Figure[]): Figure[] {
  const of = (size: PoolSize, figure: string): number =>
    figures.find(({ id }) => id === `${nameOf(size)}/place-1.${figure}`)?.value ?? Number.NaN;
  return ["p50", "p99-least"].map((figure) => {
    const value = of(STATED, figure) / of(FEWER, figure);
    const id = `growth/place-1-for-10x-bookings.${figure}`;
    return { id, value, unit: "×", direction: "lower" };
  });
}

/** What a process that holds the state, and nothing else of ours, keeps in memory. */
function residentOf(size: PoolSize): Figure {
  const file = fileURLToPath(new URL("placer-resident.ts", import.meta.url));
  const args = ["--expose-gc", file, JSON.stringify(size)];
  const printed = execFileSync(process.execPath, args, { encoding: "utf8" });
  const id = `${nameOf(size)}/resident`;
  return { id, value: Number(printed), unit: "MB", direction: "lower", must: 500 };
}

function nameOf(size: PoolSize): string {
  return `${size.nodes}n-${size.full}%-${size.future / 1_000}k`;
}

/** A MIG pool of 1,000 nodes: 24,000 instances, half of them taken. */
function measureMig(quick: boolean): Figure[] {
  const state = PoolState.load(migPool({ nodes: 1_000 }));
  const ask: Question = (random) => {
    const start = NOW + Math.floor(random() * 40) * HOUR;
    const profile = random() < 0.5 ? "3g.40gb" : "2g.20gb";
    const request = { start, end: start + HOUR, resources: NO_SCALARS, topology: "any" } as const;
    const who = { binding: "hold", gang: null, spot: false, tenantId: "t-0" } as const;
    const devices = [{ class: "gpu.mig", count: 2, selector: { profile } }] as const;
    void place(state, { ...request, ...who, devices });
  };
  const { first } = measure(ask, quick ? 200 : 500);
  const figure = { unit: "ms", direction: "lower" } as const;
  return [
    { ...figure, id: "1000n-mig/place-2.p50", value: quantile(first, 0.5) },
    { ...figure, id: "1000n-mig/place-2.p99", value: quantile(first, 0.99) },
  ];
}

type Question = (random: () => number) => void;

function measurePool(size: PoolSize, quick: boolean): Figure[] {
  const name = nameOf(size);
  const stated = JSON.stringify(size) === JSON.stringify(STATED);
  const snapshot = syntheticPool(size);
  const before = performance.now();
  const state = PoolState.load(snapshot);
  const load = performance.now() - before;
  const figures: Figure[] = [{ id: `${name}/load`, value: load, unit: "ms", direction: "lower" }];
  for (const [kind, ask] of Object.entries(questions(state, size))) {
    const { first, least } = measure(ask, quick ? 200 : 500);
    const must = stated ? MUST[kind] : undefined;
    const figure = { unit: "ms", direction: "lower" } as const;
    figures.push({ ...figure, id: `${name}/${kind}.p50`, value: quantile(first, 0.5) });
    const p99 = { ...figure, id: `${name}/${kind}.p99`, value: quantile(first, 0.99) };
    figures.push(must === undefined ? p99 : { ...p99, must });
    figures.push({ ...figure, id: `${name}/${kind}.p99-least`, value: quantile(least, 0.99) });
  }
  if (stated) figures.push(...measureTurns(state, name, quick ? 5 : 20));
  return figures;
}

function questions(state: PoolState, size: PoolSize): Record<string, Question> {
  const soon = (random: () => number, more: Partial<PlaceRequest> = {}): PlaceRequest => {
    const start = NOW + Math.floor(random() * 30 * DAY);
    const end = start + [1, 4, 24, 72][Math.floor(random() * 4)]! * HOUR;
    const ask = { binding: "hold", gang: null, spot: false, tenantId: "t-0" } as const;
    return {
      ...ask,
      devices: gpus(1),
      topology: "any",
      resources: NO_SCALARS,
      start,
      end,
      ...more,
    };
  };
  const linked = { devices: gpus(8), topology: "nvlink-all" } as const;
  const always: Record<string, Question> = {
    "place-1": (random) => void place(state, soon(random)),
    "place-8-nvlink": (random) => void place(state, soon(random, linked)),
    "gang-4x8-rack": (random) => {
      const gang = { size: 4, topologyKey: "rack" };
      void place(state, soon(random, { ...linked, gang }));
    },
    "gang-16x8-rack": (random) => {
      const gang = { size: 16, topologyKey: "rack" };
      void place(state, soon(random, { ...linked, gang }));
    },
    "lease-node": (random) => {
      const devices = [{ class: "node", count: 1 }] as const;
      void place(state, soon(random, { binding: "node", devices }));
    },
    "refuse-count": (random) => refused(state, soon(random, { devices: gpus(9) })),
    "earliest-start": (random) => {
      const request = soon(random, linked);
      const end = request.start + 7 * DAY;
      earliestStart(state, { ...request, end }, { horizonEnd: NOW + 366 * DAY });
    },
    timeline: (random) => {
      const from = NOW + Math.floor(random() * 30) * DAY;
      timeline(state, { from, to: from + 7 * DAY, stepMinutes: 30 });
    },
  };
  if (size.future === 0) return always;
  // On that day every node has a booking: nothing takes a whole node, and all have to be asked.
  return {
    ...always,
    "refuse-busy": (random) => {
      const start = NOW + BUSY_DAY + Math.floor(random() * 20) * HOUR;
      refused(state, soon(random, { ...linked, start, end: start + HOUR }));
    },
    victims: (random) => {
      const start = NOW + BUSY_DAY + Math.floor(random() * 20) * HOUR;
      const found = findVictims(state, soon(random, { ...linked, start, end: start + HOUR }));
      if (found?.victims.length !== 1) throw new Error("one spot booking a node is in the way");
    },
  };
}

function gpus(count: number): PlaceRequest["devices"] {
  return [{ class: "gpu", count }];
}

function refused(state: PoolState, request: PlaceRequest): void {
  if (place(state, request).fits) throw new Error("the bench asked for a refusal and got room");
}

/** Each question is asked so often. */
const TIMES = 3;

/**
 * Milliseconds of each question, after some that warm up: of the first time that it is asked, which is what the
 * limits are about, and the least of some. Where the two are far apart, other processes had the machine.
 */
function measure(ask: Question, questions: number): { first: number[]; least: number[] } {
  const random = randomFrom(7);
  for (let i = 0; i < 50; i += 1) ask(random);
  const first: number[] = [];
  const least: number[] = [];
  for (let question = 0; question < questions; question += 1) {
    const took = Array.from({ length: TIMES }, () => {
      const same = randomFrom(question);
      const before = performance.now();
      ask(same);
      return performance.now() - before;
    });
    first.push(took[0] as number);
    least.push(Math.min(...took));
  }
  return { first, least };
}
