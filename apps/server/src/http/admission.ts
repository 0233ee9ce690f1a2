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
import { ComeBack } from "./come-back.ts";

/** Calls in work at which a busy process looks whether it keeps up. */
export const CALLS_MAX = 64;
/** It does not when the oldest of them has been in work for so long: many at once that are soon done are no flood. */
export const LATE_MS = 400;
/** Past so many nobody new is asked who they are then: that costs as well. */
export const CALLS_LAST = 2 * CALLS_MAX;
/** Share of the time in which the event loop had work. Calls that wait for a locked pool leave it idle. */
const BUSY = 0.75;
const LOOK_MS = 100;

/** Statuses of callers who are not served: unknown, over their budget, or too many. */
const TURNED_AWAY: ReadonlySet<number> = new Set([401, 429, 503]);

/** Held open for hours at no cost; the feed bounds them itself. */
const STREAMS: ReadonlySet<string> = new Set(
  METHOD_NAMES.filter((name) => catalog[name].kind === "subscription"),
);

declare module "fastify" {
  interface FastifyRequest {
    /** Null before it was let in. */
    turn: Turn | null;
  }
}

/** One request's calls in work. */
export interface Turn {
  /** A call of it waits for room and costs nothing until the function that this answers is called. */
  resting(): () => void;
  /**
   * The answer is made; that its caller takes long to read it is not our work.
   * @param status its HTTP status: one that turned the caller away says nothing of how much can be answered
   */
  end(status: number): void;
}

/** Parts of one request's way in. */
export interface Admission {
  /**
   * Counts the request's calls until its turn ends or its caller has gone.
   *
   * @param tenantId whose it is, where that is known without asking; of a stranger it counts as one call
   * @throws ApiError UNAVAILABLE while nothing more is taken, or the tenant has its share already
   */
  enter(request: FastifyRequest, reply: FastifyReply, tenantId: string | null): void;
  /** The stranger is known now. @throws ApiError UNAVAILABLE while its tenant has its share already */
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
  const work = new Work(() => vitals.elapsed());
  const flooded = (): boolean =>
    work.calls >= CALLS_MAX && vitals.busy() && work.oldestMs() >= LATE_MS;
  const turnAway = (
    request: FastifyRequest,
    reply: FastifyReply,
    tenantId: string | null,
  ): never => {
    const inWork = tenantId === null ? work.calls : (work.tenants.get(tenantId) ?? 0);
    const tenants = tenantId === null ? 1 : work.tenants.size;
    const away = { tenantId, calls: callsOf(request), inWork, tenants };
    const seconds = work.comeBack.seconds(work.elapsed(), away);
    void reply.header("retry-after", String(seconds));
    throw tooMuch(seconds);
  };
  const mindShare = (request: FastifyRequest, reply: FastifyReply, tenantId: string): void => {
    // The even share of those who have calls here now; whoever has none may have one.
    const share = CALLS_MAX / Math.max(1, work.tenants.size);
    if ((work.tenants.get(tenantId) ?? 0) >= share && flooded()) turnAway(request, reply, tenantId);
  };

  return {
    enter(request, reply, tenantId) {
      if (tenantId !== null) mindShare(request, reply, tenantId);
      else if (work.calls >= CALLS_LAST && flooded()) turnAway(request, reply, null);
      // Who is gone already has no end that could be heard.
      if (reply.raw.closed) return;
      const turn = new Calls(work, tenantId);
      turn.add(tenantId === null ? Math.min(1, callsOf(request)) : callsOf(request));
      request.turn = turn;
      reply.raw.once("close", () => turn.leave());
    },
    recognize(request, reply, tenantId) {
      mindShare(request, reply, tenantId);
      if (request.turn instanceof Calls) request.turn.become(tenantId, callsOf(request));
    },
    stop: () => vitals.stop(),
  };
}

/** All calls in work. */
class Work {
  calls = 0;
  readonly tenants = new Map<string, number>();
  /** The request that is in work for longest first. */
  readonly requests = new Set<Calls>();
  readonly comeBack = new ComeBack();
  readonly elapsed: () => number;

  constructor(elapsed: () => number) {
    this.elapsed = elapsed;
  }

  oldestMs(): number {
    const [oldest] = this.requests;
    return oldest ? this.elapsed() - oldest.since : 0;
  }
}

class Calls implements Turn {
  since = 0;
  #calls = 0;
  #over = false;
  #tenantId: string | null;
  readonly #work: Work;

  constructor(work: Work, tenantId: string | null) {
    this.#work = work;
    this.#tenantId = tenantId;
  }

  add(more: number): void {
    if (this.#over || more === 0) return;
    if (this.#calls === 0) this.since = this.#work.elapsed();
    this.#calls += more;
    this.#work.calls += more;
    if (this.#tenantId !== null) this.#addOf(this.#tenantId, more);
    if (this.#calls > 0) this.#work.requests.add(this);
    else this.#work.requests.delete(this);
  }

  /** A stranger's is the tenant's now, as many as there are of it. */
  become(tenantId: string, calls: number): void {
    if (this.#over) return;
    this.#tenantId = tenantId;
    this.#addOf(tenantId, this.#calls);
    this.add(calls - this.#calls);
  }

  resting(): () => void {
    this.add(-1);
    return () => this.add(1);
  }

  end(status: number): void {
    if (!TURNED_AWAY.has(status)) this.#work.comeBack.answered(this.#calls);
    this.leave();
  }

  /** Its caller has the answer, or has gone. */
  leave(): void {
    this.add(-this.#calls);
    this.#over = true;
  }

  #addOf(tenantId: string, more: number): void {
    const now = (this.#work.tenants.get(tenantId) ?? 0) + more;
    if (now > 0) this.#work.tenants.set(tenantId, now);
    else this.#work.tenants.delete(tenantId);
  }
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

function tooMuch(seconds: number): ApiError {
  const then = seconds === 1 ? "a second" : `${seconds} seconds`;
  return new ApiError("UNAVAILABLE", {
    message: `The server has more calls than it can answer soon; try again in ${then}.`,
  });
}
