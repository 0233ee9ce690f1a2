/** A loopback server that keeps one lease as Berth does, by a clock that is not the client's. */
import { createBerth } from "../src/index.ts";
import type { Berth, BerthOptions, HoldRequest, Hooks } from "../src/index.ts";
import { ask, reservationId, told } from "./berth-on-wire.ts";
import { startWireServer } from "./wire-server.ts";
import type { Arrived, Reply } from "./wire-server.ts";

/** The server's clock runs this far ahead of the machine's. */
const AHEAD_MS = 3_600_000;

/** The reservation that it keeps. */
export interface Kept {
  readonly id: string;
  state: string;
  readonly start: number;
  readonly end: number;
  readonly leaseSeconds: number;
  leaseExpiresAt: number;
  updatedAt: number;
  endedAt: number | null;
  version: number;
}

export interface LeaseServer extends AsyncDisposable {
  readonly berth: Berth;
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Whether a call is under way. */
  readonly isBusy: () => boolean;
  /** The reservation; null before it was booked. */
  readonly kept: () => Kept | null;
  /** The server's time. */
  readonly now: () => number;
  /** In place of its own answer to calls of this method; null: its own again. */
  instead(method: string, reply: Reply | null): void;
  /** Ends it as the server would. */
  end(state: string): void;
}

export interface LeaseOptions extends Partial<BerthOptions> {
  /** The booking begins this long from now. */
  readonly startsInMs?: number;
  /** So much longer it is scheduled: whoever makes way takes their time. */
  readonly lateMs?: number;
}

export const leased: HoldRequest = { ...ask, leaseSeconds: 60 };

/** Starts the server and a client of it. */
export async function startLeaseServer(options: LeaseOptions = {}): Promise<LeaseServer> {
  const { startsInMs = 0, lateMs = 0, hooks = [], ...more } = options;
  let underWay = 0;
  const counting: Hooks = {
    onRequest: () => void (underWay += 1),
    onResponse: () => void (underWay -= 1),
  };
  const replies = new Map<string, Reply>();
  const now = (): number => Date.now() + AHEAD_MS;
  let kept: Kept | null = null;
  const end = (state: string): void => {
    if (kept && kept.endedAt === null)
      Object.assign(kept, { state, endedAt: now(), updatedAt: now(), version: kept.version + 1 });
  };
  const answers: Record<string, (input: Record<string, unknown>) => Reply> = {
    create(input) {
      kept ??= booked(input, { now: now(), startsInMs });
      return { data: kept };
    },
    renew() {
      settle();
      if (!kept || kept.endedAt !== null) return { status: 412, berth: told("INVALID_STATE") };
      if (kept.state === "scheduled") return { data: kept };
      const leaseExpiresAt = Math.min(kept.end, now() + kept.leaseSeconds * 1_000);
      Object.assign(kept, { state: "active", leaseExpiresAt, updatedAt: now() });
      kept.version += 1;
      return { data: kept };
    },
    release() {
      settle();
      end("released");
      return { data: kept };
    },
    get() {
      settle();
      return { data: kept };
    },
  };
  const settle = (): void => {
    if (!kept || kept.endedAt !== null) return;
    if (kept.end <= now()) end("completed");
    else if (kept.leaseExpiresAt <= now()) end("expired");
    else if (kept.state === "scheduled" && kept.start + lateMs <= now())
      Object.assign(kept, { state: "active", version: kept.version + 1 });
  };
  const server = await startWireServer((call) => {
    const instead = replies.get(call.method);
    if (instead !== undefined) return instead;
    return answers[call.method.slice("reservations.".length)]?.(call.input as never) ?? "cut";
  });
  return {
    berth: createBerth({
      url: server.url,
      token: "t",
      hooks: [counting, ...[hooks].flat()],
      ...more,
    }),
    isBusy: () => underWay > 0,
    url: server.url,
    arrived: server.arrived,
    kept: () => kept,
    now,
    end,
    instead(method, reply) {
      if (reply === null) replies.delete(method);
      else replies.set(method, reply);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function booked(
  input: Record<string, unknown>,
  { now, startsInMs }: { readonly now: number; readonly startsInMs: number },
): Kept {
  const leaseSeconds = input["leaseSeconds"] as number;
  const start = now + startsInMs;
  return {
    ...{ id: reservationId, tenantId: input["tenantId"] },
    ...{ state: startsInMs > 0 ? "scheduled" : "active", start, end: start + 3_600_000 },
    ...{ leaseSeconds, leaseExpiresAt: start + leaseSeconds * 1_000 },
    ...{ updatedAt: now, endedAt: null, version: 1 },
  };
}
