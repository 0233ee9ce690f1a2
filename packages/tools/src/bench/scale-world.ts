/** A process of its own for `scale.ts`: loads the pools, books in them, prints the figures as JSON. */
import { randomBytes } from "node:crypto";
import {
  type CreateAsk,
  createReservation,
  NO_SCALARS,
  type PoolId,
  type PoolSnapshot,
  releaseReservation,
  type Reservation,
} from "@berth/domain";
import { type BatchFacts, type Command, createEngine, type Engine } from "@berth/engine";
import { type Figure, quantile } from "./figure.ts";
import { HOUR, NOW, randomFrom, syntheticPool } from "./placer-pool.ts";
import { CountingStore } from "./scale-store.ts";
import type { World } from "./scale.ts";

const TENANT = "t-0";
const GPUS = 8;
const KIB = 1_024;

interface Measured {
  readonly batches: BatchFacts[];
  /** Milliseconds from the wish to its answer. */
  readonly took: number[];
  refused: number;
}

const world = JSON.parse(process.argv[2] ?? "") as World;
const measured: Measured = { batches: [], took: [], refused: 0 };
const store = new CountingStore(NOW, (gateId) => poolNamed(gateId as PoolId));
const engine = createEngine({
  store,
  random: (bytes) => randomBytes(bytes),
  log: { info: () => undefined, warn: console.error, error: console.error },
  elapsed: () => performance.now(),
  observer: { batch: (facts) => void measured.batches.push(facts) },
  options: { lifecycleMs: 60_000, rebuildMs: 0, beatMs: 0 },
});
console.log(JSON.stringify(await live(engine)));
await engine.stop();

async function live(on: Engine): Promise<Figure[]> {
  const empty = resident();
  const loaded = await loadPools(on);
  const held = resident() - empty;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const until = started + world.seconds * 1_000;
  const random = randomFrom(5);
  await Promise.all(
    Array.from({ length: world.callers }, () => call(on, { loaded, until, random })),
  );
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const cpuSeconds = (user + system) / 1e6;
  const after = resident() - empty;
  return figures({ loaded: loaded.length, held, seconds, cpuSeconds, after });
}

/** Until all are there, or the process holds as much as it may. */
async function loadPools(on: Engine): Promise<PoolId[]> {
  const loaded: PoolId[] = [];
  for (let number = 0; number < world.pools; number += 1) {
    if (process.memoryUsage.rss() / KIB ** 2 > world.residentMax) {
      globalThis.gc?.();
      if (process.memoryUsage.rss() / KIB ** 2 > world.residentMax) break;
    }
    const id: PoolId = `pool_${String(number).padStart(26, "0")}`;
    await on.read(id, () => null);
    loaded.push(id);
  }
  return loaded;
}

/** Books and gives back, in a pool drawn each time. */
async function call(
  on: Engine,
  about: { readonly loaded: readonly PoolId[]; readonly until: number; random(): number },
): Promise<void> {
  while (performance.now() < about.until) {
    const id = about.loaded[Math.floor(about.random() * about.loaded.length)] as PoolId;
    const gpus = [1, 2, 4, 8][Math.floor(about.random() * 4)] ?? 1;
    const booked = await timed(on, id, create(gpus));
    if (booked)
      await timed(on, id, {
        name: "release",
        tenantId: TENANT,
        plan: (turn) => releaseReservation(turn, { tenantId: TENANT, reservationId: booked.id }),
      });
  }
}

async function timed<T>(on: Engine, id: PoolId, command: Command<T>): Promise<T | null> {
  const before = performance.now();
  const { value } = await on.submit(id, command);
  measured.took.push(performance.now() - before);
  if (value.ok) return value.value;
  measured.refused += 1;
  return null;
}

function create(gpus: number): Command<Reservation> {
  const ask: CreateAsk = {
    tenantId: TENANT,
    ancestors: [],
    projectId: null,
    leaseSeconds: null,
    createdBy: "bench",
    shape: {
      binding: "hold",
      gang: null,
      node: null,
      spot: false,
      devices: [{ class: "gpu", count: gpus }],
      topology: gpus === GPUS ? "nvlink-all" : "any",
      resources: NO_SCALARS,
      start: null,
      durationMs: HOUR,
    },
  };
  return { name: "create", tenantId: TENANT, plan: (turn) => createReservation(turn, ask) };
}

function poolNamed(id: PoolId): PoolSnapshot {
  const snapshot = syntheticPool({ nodes: world.nodes, full: 50, future: 0 });
  const quotas = [{ tenantId: TENANT, resource: "gpu", max: world.nodes * GPUS }];
  const config = snapshot.config && { ...snapshot.config, id, quotas };
  // Strings that were put together hold on to their parts; what a database sends does not.
  return JSON.parse(JSON.stringify({ ...snapshot, gateId: id, config })) as PoolSnapshot;
}

function resident(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

interface Found {
  readonly loaded: number;
  readonly held: number;
  readonly seconds: number;
  /** Of all threads: less than `seconds` when other processes had the machine. */
  readonly cpuSeconds: number;
  readonly after: number;
}

function figures({ loaded, held, seconds, cpuSeconds, after }: Found): Figure[] {
  const units = loaded * world.nodes * GPUS;
  const lower = { direction: "lower" } as const;
  const higher = { direction: "higher" } as const;
  const sizes = measured.batches.map(({ size }) => size);
  const plans = measured.batches.map(({ planMs }) => planMs);
  return [
    { ...higher, id: "pools-held", value: loaded, unit: "pools" },
    { ...higher, id: "units-held", value: units, unit: "units" },
    { ...lower, id: "resident", value: Math.round(held / KIB ** 2), unit: "MiB" },
    { ...lower, id: "resident-after", value: Math.round(after / KIB ** 2), unit: "MiB" },
    { ...lower, id: "resident-a-unit", value: Math.round(held / units), unit: "B" },
    { ...higher, id: "mutations", value: measured.took.length / seconds, unit: "1/s" },
    {
      ...higher,
      id: "mutations-a-cpu-second",
      value: measured.took.length / cpuSeconds,
      unit: "1/s",
    },
    { ...lower, id: "refused", value: measured.refused, unit: "calls" },
    { ...higher, id: "batch-size.mean", value: mean(sizes), unit: "calls" },
    { ...higher, id: "batch-size.max", value: Math.max(...sizes), unit: "calls" },
    { ...lower, id: "plan-a-batch.p50", value: quantile(plans, 0.5), unit: "ms" },
    { ...lower, id: "plan-a-batch.p99", value: quantile(plans, 0.99), unit: "ms" },
    { ...lower, id: "decision.p50", value: quantile(measured.took, 0.5), unit: "ms" },
    { ...lower, id: "decision.p99", value: quantile(measured.took, 0.99), unit: "ms" },
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
