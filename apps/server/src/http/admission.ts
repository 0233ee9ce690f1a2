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

/** Calls in work at which a busy process stops taking whatever comes. */
export const CALLS_MAX = 64;
/** Past so many nobody new is asked who they are: that costs as well. */
export const CALLS_LAST = 2 * CALLS_MAX;
/** Many calls at once are no flood while they are worked off; they are one when it lasts. */
export const BURST_MS = 150;
/** A flood has ended when there was no such moment for so long. */
const CALM_MS = 1_000;
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
  let working = 0;
  let floodedFrom = 0;
  let floodedAt = -Infinity;

  /** Whether there is too much for longer than a burst takes. */
  const flooded = (): boolean => {
    if (working < CALLS_MAX || !vitals.busy()) return false;
    const now = vitals.elapsed();
    if (now - floodedAt > CALM_MS) floodedFrom = now;
    floodedAt = now;
    return now - floodedFrom >= BURST_MS;
  };

  const recognize: Admission["recognize"] = (request, reply, tenantId) => {
    const own = tenants.get(tenantId) ?? 0;
    // The even share of those who have calls here now; whoever has none may have one.
    const share = CALLS_MAX / Math.max(1, tenants.size);
    if (flooded() && own >= share) throw tooMuch();
    whileOpen(request, reply, (calls) => {
      const now = (tenants.get(tenantId) ?? 0) + calls;
      if (now > 0) tenants.set(tenantId, now);
      else tenants.delete(tenantId);
    });
  };

  return {
    enter(request, reply, tenantId) {
      if (tenantId !== null) recognize(request, reply, tenantId);
      else if (flooded() && working >= CALLS_LAST) throw tooMuch();
      request.resting = () => {
        working -= 1;
        return () => void (working += 1);
      };
      whileOpen(request, reply, (calls) => void (working += calls));
    },
    recognize,
    stop: () => vitals.stop(),
  };
}

/** Adds the calls of the request, and takes them away when it is answered or its caller has gone. */
function whileOpen(
  { calls: all }: FastifyRequest,
  { raw }: FastifyReply,
  add: (calls: number) => void,
): void {
  // Who is gone already has no end that could be heard.
  if (raw.closed) return;
  const calls = all.filter(({ method }) => !STREAMS.has(method)).length;
  add(calls);
  raw.once("close", () => add(-calls));
}

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
