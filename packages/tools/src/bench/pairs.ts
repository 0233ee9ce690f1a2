/** Load on the booking surface: callers that create a booking of two GPUs and release it, over and over. */
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
}

export interface LoadResult {
  /** Mutations a second. */
  readonly rate: number;
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

/** Runs all lanes for the time given. @throws on the first answer that is not 200: a refusal is not a booking */
export async function load({ lanes, seconds, rate }: LoadOptions): Promise<LoadResult> {
  const took: number[] = [];
  const interval = rate === undefined ? 0 : (lanes.length / rate) * 1000;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const clock = { until: started + seconds * 1000, interval };
  await Promise.all(
    lanes.map((lane, i) =>
      drive(lane, { ...clock, from: started + (interval * i) / lanes.length }, took),
    ),
  );
  const elapsed = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    rate: took.length / elapsed,
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

async function drive(lane: Lane, clock: Clock, took: number[]): Promise<void> {
  const caller = new Caller(lane.url, lane.token);
  let due = clock.from;
  const timed = async (
    method: string,
    input: object,
  ): Promise<Readonly<Record<string, unknown>>> => {
    await until(due);
    const from = clock.interval > 0 ? due : performance.now();
    const body = await caller.must(method, input);
    took.push(performance.now() - from);
    due += clock.interval;
    return body;
  };
  const { tenantId, poolId } = lane;
  try {
    while (performance.now() < clock.until) {
      const ask = { tenantId, poolId, ...BOOKING, idempotencyKey: freshKey() };
      const { id } = await timed("reservations.create", ask);
      await timed("reservations.release", { tenantId, reservationId: id });
    }
  } finally {
    caller.close();
  }
}

function until(instant: number): Promise<void> | undefined {
  const wait = instant - performance.now();
  return wait > 0 ? new Promise((resolve) => setTimeout(resolve, wait)) : undefined;
}
