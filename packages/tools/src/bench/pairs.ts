/** Load on the booking surface: callers that create a booking of two GPUs and release it, over and over. */
import { createBerth } from "@berth/client";
import { Caller } from "./caller.ts";
import { quantile } from "./figure.ts";

export interface Lane {
  readonly url: string;
  readonly token: string;
  readonly tenantId: string;
  readonly poolId: string;
}

export interface LoadOptions {
  /** One caller each. */
  readonly lanes: readonly Lane[];
  readonly seconds: number;
  /** Mutations a second over all lanes; absent: as fast as the answers come. */
  readonly rate?: number;
  /** How the calls are made: bare HTTP, or our own client. Default HTTP. */
  readonly through?: "http" | "client";
}

export interface LoadResult {
  /** Mutations a second. */
  readonly rate: number;
  /** Mutations in all. */
  readonly calls: number;
  /** Milliseconds; with a set rate, from the instant the call was due, so that a stall counts for all it delays. */
  readonly p50: number;
  readonly p99: number;
  /** Processor cores that the callers themselves took away from the system under test. */
  readonly callerCores: number;
}

export const BOOKING = { devices: [{ class: "gpu", count: 2 }], duration: "1h" } as const;

let serial = 0;
/** Unique in this run, across pools and databases. */
export const freshKey = (): string => `bench-${process.pid}-${(serial += 1)}`;

/** One caller's way to the server. */
interface Way {
  /** Answers the booking's id. */
  create(ask: Ask): Promise<string>;
  release(reservationId: string): Promise<void>;
  close(): void;
}
type Ask = typeof BOOKING & { readonly idempotencyKey: string };

function overHttp({ poolId, tenantId, token, url }: Lane): Way {
  const caller = new Caller(url, token);
  return {
    create: async (ask) =>
      (await caller.must("reservations.create", { tenantId, poolId, ...ask }))["id"] as string,
    release: async (reservationId) =>
      void (await caller.must("reservations.release", { tenantId, reservationId })),
    close: () => caller.close(),
  };
}

function throughClient({ poolId, tenantId, token, url }: Lane): Way {
  const berth = createBerth({ url, token });
  return {
    create: async ({ devices, ...ask }) =>
      (await berth.reservations.create({ tenantId, poolId, devices: [...devices], ...ask })).id,
    release: async (reservationId) =>
      void (await berth.reservations.release({ tenantId, reservationId })),
    close: () => undefined,
  };
}

/** Runs all lanes for the time given. @throws on the first answer that is not 200: a refusal is not a booking */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { lanes, rate, seconds, through = "http" } = options;
  const took: number[] = [];
  const interval = rate === undefined ? 0 : (lanes.length / rate) * 1000;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const clock = { until: started + seconds * 1000, interval };
  await Promise.all(
    lanes.map((lane, i) => {
      const way = through === "client" ? throughClient(lane) : overHttp(lane);
      return drive(way, { ...clock, from: started + (interval * i) / lanes.length }, took);
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    rate: took.length / elapsed,
    calls: took.length,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    callerCores: (user + system) / 1e6 / elapsed,
  };
}

interface Clock {
  readonly from: number;
  readonly until: number;
  /** Between two calls of one lane, milliseconds; 0: no pause. */
  readonly interval: number;
}

async function drive(way: Way, clock: Clock, took: number[]): Promise<void> {
  let due = clock.from;
  const timed = async <T>(call: () => Promise<T>): Promise<T> => {
    await until(due);
    const from = clock.interval > 0 ? due : performance.now();
    const answer = await call();
    took.push(performance.now() - from);
    due += clock.interval;
    return answer;
  };
  try {
    while (performance.now() < clock.until) {
      const id = await timed(() => way.create({ ...BOOKING, idempotencyKey: freshKey() }));
      await timed(() => way.release(id));
    }
  } finally {
    way.close();
  }
}

function until(instant: number): Promise<void> | undefined {
  const wait = instant - performance.now();
  return wait > 0 ? new Promise((resolve) => setTimeout(resolve, wait)) : undefined;
}
