/**
 * Turns calls away while the process has more of them than it can answer soon. What is let in would otherwise wait
 * with thousands of others until its caller has given up: the work is done and nobody reads the answer. While there
 * is too much, every tenant has an even share, so that who asks for little is served.
 */
import { performance } from "node:perf_hooks";
import { setInterval } from "node:timers";
import { ApiError } from "@berth/api";
import { METHOD_NAMES, catalog } from "@berth/contract";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Calls in work at which a busy process looks whether it keeps up. */
export const CALLS_MAX = 64;
/** It does not when the oldest of them has been in work for so long: many at once that are soon done are no flood. */
export const LATE_MS = 400;
/** Past so many nobody new is asked who they are then: that costs as well. */
export const CALLS_LAST = 2 * CALLS_MAX;
/** Share of the time in which the event loop had work. Calls that wait for a locked pool leave it idle. */
const BUSY = 0.75;
const LOOK_MS = 100;

/** Held open for hours at no cost; the feed bounds them itself. */
const STREAMS: ReadonlySet<string> = new Set(
  METHOD_NAMES.filter((name) => catalog[name].kind === "subscription"),
);

declare module "fastify" {
  interface FastifyRequest {
    /** A call of the request waits for room and costs nothing until the function it gets is called. */
    resting: (() => () => void) | null;
  }
}

/** Parts of one request's way in. */
export interface Admission {
  /**
   * Counts the request's calls until it is answered.
   *
   * @param tenantId whose it is, where that is known without asking
   * @throws ApiError UNAVAILABLE while nothing more is taken, or the tenant has its share already
   */
  enter(request: FastifyRequest, reply: FastifyReply, tenantId: string | null): void;
  /** As `enter` did for who was known. @throws ApiError UNAVAILABLE while the tenant has its share already */
  recognize(request: FastifyRequest, reply: FastifyReply, tenantId: string): void;
  stop(): void;
}

/** What the process knows of itself; a test says it instead. */
export interface Vitals {
  /** Whether it has all the work that it can do. */
  busy(): boolean;
  /** Milliseconds of a clock that only goes forward. */
  elapsed(): number;
  stop(): void;
}

export function createAdmission(vitals: Vitals = watchLoop()): Admission {
  const tenants = new Map<string, number>();
  const work = new Work(() => vitals.elapsed());
  const flooded = (): boolean =>
    work.calls >= CALLS_MAX && vitals.busy() && work.oldestMs() >= LATE_MS;

  const recognize: Admission["recognize"] = (request, reply, tenantId) => {
    const own = tenants.get(tenantId) ?? 0;
    // The even share of those who have calls here now; whoever has none may have one.
    const share = CALLS_MAX / Math.max(1, tenants.size);
    if (own >= share && flooded()) throw tooMuch();
    const add = (calls: number): void => {
      const now = (tenants.get(tenantId) ?? 0) + calls;
      if (now > 0) tenants.set(tenantId, now);
      else tenants.delete(tenantId);
    };
    const calls = callsOf(request);
    whileOpen(reply, () => {
      add(calls);
      return () => add(-calls);
    });
  };

  return {
    enter(request, reply, tenantId) {
      if (tenantId !== null) recognize(request, reply, tenantId);
      else if (work.calls >= CALLS_LAST && flooded()) throw tooMuch();
      whileOpen(reply, () => {
        const { resting, done } = work.take(callsOf(request));
        request.resting = resting;
        return done;
      });
    },
    recognize,
    stop: () => vitals.stop(),
  };
}

/** The calls in work, request by request. */
class Work {
  calls = 0;
  /** The one that is in work for longest first. */
  readonly #requests = new Set<{ calls: number; since: number }>();
  readonly #elapsed: () => number;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  oldestMs(): number {
    const [oldest] = this.#requests;
    return oldest ? this.#elapsed() - oldest.since : 0;
  }

  take(calls: number): { readonly resting: () => () => void; readonly done: () => void } {
    const request = { calls: 0, since: 0 };
    const add = (more: number): void => {
      if (request.calls === 0) request.since = this.#elapsed();
      this.calls += more;
      request.calls += more;
      if (request.calls > 0) this.#requests.add(request);
      else this.#requests.delete(request);
    };
    add(calls);
    let over = false;
    return {
      resting: () => {
        if (over) return () => undefined;
        add(-1);
        return () => void (over || add(1));
      },
      done: () => {
        over = true;
        add(-request.calls);
      },
    };
  }
}

/** Runs the end of what began when the request is answered or its caller has gone. */
function whileOpen({ raw }: FastifyReply, begin: () => () => void): void {
  // Who is gone already has no end that could be heard.
  if (!raw.closed) raw.once("close", begin());
}

const callsOf = ({ calls }: FastifyRequest): number =>
  calls.filter(({ method }) => !STREAMS.has(method)).length;

function watchLoop(): Vitals {
  let before = performance.eventLoopUtilization();
  let busy = false;
  const look = setInterval(() => {
    const now = performance.eventLoopUtilization();
    busy = performance.eventLoopUtilization(now, before).utilization >= BUSY;
    before = now;
  }, LOOK_MS).unref();
  return {
    busy: () => busy,
    elapsed: () => performance.now(),
    stop: () => clearInterval(look),
  };
}

const tooMuch = (): ApiError =>
  new ApiError("UNAVAILABLE", {
    message: "The server has more calls than it can answer soon; try again in a second.",
  });
