/**
 * Everyday work on some servers through the published client, and a book of what was acknowledged: bookings
 * under keys, gangs, releases, renewals, extensions, reads. The look afterwards compares it with the rows.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Berth, isBerthError } from "@berth/client";
import type { TestDatabase } from "@berth/db/testing";
import { expect } from "vitest";
import { keysInDatabase } from "./together.ts";

export interface LoadOptions {
  /** Used in turn; a call and its retries are one client's. */
  readonly clients: readonly Berth[];
  readonly tenantId: string;
  readonly poolIds: readonly string[];
  /** In [0,1). */
  readonly random: () => number;
  /** Callers at the same time. Default 6. */
  readonly callers?: number;
  /** A caller waits up to so long between calls; milliseconds, default 20. */
  readonly thinkMs?: number;
  /** Bookings that one caller holds at most, so that there is always room. Default 12. */
  readonly holds?: number;
}

/** How a call ended: `unknown` may have happened, `unavailable` says itself that it may. */
export type Outcome = "ack" | "unavailable" | "unknown" | "unexpected";

export interface Call {
  readonly name: string;
  readonly outcome: Outcome;
  /** Which of the clients. */
  readonly via: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Under a key, or one of those that come to the same when made again. */
  readonly repeatable: boolean;
  readonly error: string | null;
}

export interface Load {
  readonly calls: readonly Call[];
  count(outcome: Outcome): number;
  /** The longest time without an answer by that client between two instants of `performance.now()`. */
  longestGap(via: number, from: number, to: number): number;
  /** From now on calls go through these; a client's connections outlive its servers' comings. */
  use(...clients: readonly Berth[]): void;
  /** Resolves after so many more calls were acknowledged. */
  acked(more: number): Promise<void>;
  /** Lets what runs end, and starts nothing more. */
  stop(): Promise<void>;
  /** Every acknowledged call is in the rows as it was answered, and nothing is there that nobody asked for. */
  expectKept(database: TestDatabase): Promise<void>;
}

export function startLoad(options: LoadOptions): Load {
  return new RunningLoad(options);
}

/** What its caller knows of a booking. */
interface Held {
  readonly id: string;
  released: "no" | "yes" | "perhaps";
  /** No earlier than this, as it was answered. */
  end: number;
  leaseExpiresAt: number | null;
}

interface Caller {
  readonly number: number;
  readonly live: Held[];
}

const HOUR = 3_600_000;
const LEASE_S = 3_000;
const KEY_PREFIX = "load-";
const UNKNOWN = /^(NETWORK|TIMEOUT|BAD_ANSWER)$/;
let loads = 0;

class RunningLoad implements Load {
  readonly calls: Call[] = [];
  readonly #options: LoadOptions;
  readonly #prefix: string;
  readonly #sent = new Set<string>();
  readonly #byKey = new Map<string, Held>();
  readonly #running: Promise<unknown>;
  #clients: readonly Berth[];
  #stopping = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#clients = options.clients;
    this.#prefix = `${KEY_PREFIX}${(loads += 1)}-`;
    const { callers = 6 } = options;
    this.#running = Promise.all(Array.from({ length: callers }, (_, n) => this.#caller(n)));
  }

  use(...clients: readonly Berth[]): void {
    this.#clients = clients;
  }

  count(outcome: Outcome): number {
    return this.calls.filter((call) => call.outcome === outcome).length;
  }

  longestGap(via: number, from: number, to: number): number {
    const ends = this.calls
      .filter((call) => call.via === via && call.outcome === "ack")
      .map(({ endedAt }) => endedAt)
      .filter((at) => at > from && at < to);
    const marks = [from, ...ends, to];
    return Math.max(...marks.slice(1).map((at, i) => at - (marks[i] ?? at)));
  }

  async acked(more: number): Promise<void> {
    const goal = this.count("ack") + more;
    while (this.count("ack") < goal && !this.#stopping) await delay(5);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  expectKept(database: TestDatabase): Promise<void> {
    return expectNothing(this.#lost(database));
  }

  async #lost(database: TestDatabase): Promise<string[]> {
    const unexpected = this.calls.filter(({ outcome }) => outcome === "unexpected");
    const wrong = unexpected.map(({ name, error }) => `${name}: ${error}`);
    // Known before the rows are read: what is acknowledged meanwhile need not be in them.
    const known = [...this.#byKey].map(([key, held]) => ({ key, ...held }));
    const stored = await keysInDatabase(database);
    const rows = await reservationsIn(database);
    for (const held of known) {
      const row = stored.get(held.key);
      if (row?.reservationId !== held.id || row.times !== 1)
        wrong.push(`${held.key} was answered ${held.id} and is ${JSON.stringify(row)}`);
      wrong.push(...differences(held, rows.get(held.id)));
    }
    for (const [key, { reservationId, times }] of stored) {
      if (!key.startsWith(this.#prefix)) continue;
      if (times !== 1) wrong.push(`${key} names ${reservationId}, which is not there`);
      if (!this.#sent.has(key)) wrong.push(`${key} was never sent`);
    }
    return wrong;
  }

  async #caller(number: number): Promise<void> {
    const { random, thinkMs = 20, holds = 12 } = this.#options;
    const caller: Caller = { number, live: [] };
    while (!this.#stopping) {
      const draw = random();
      if (caller.live.length >= holds) await this.#release(caller);
      else if (draw < 0.55 || caller.live.length === 0) await this.#create(caller);
      else if (draw < 0.75) await this.#release(caller);
      else if (draw < 0.85) await this.#renew(caller);
      else if (draw < 0.9) await this.#extend(caller);
      else if (draw < 0.95) await this.#preview(caller);
      else await this.#read(caller);
      await delay(random() * thinkMs);
    }
  }

  async #create(caller: Caller): Promise<void> {
    const { tenantId, poolIds, random } = this.#options;
    const key = `${this.#prefix}${this.#sent.size}`;
    this.#sent.add(key);
    const gang = random() < 0.1 ? { gang: { size: 2 } } : {};
    const lease = random() < 0.5 ? { leaseSeconds: LEASE_S } : {};
    const poolId = poolIds[Math.trunc(random() * poolIds.length)] ?? "";
    const input = {
      tenantId,
      poolId,
      devices: [{ class: "gpu" as const, count: 1 }],
      duration: "1h",
      idempotencyKey: key,
      ...gang,
      ...lease,
    };
    const made = await this.#call("create", caller, true, (berth) =>
      berth.reservations.create(input),
    );
    if (made === undefined) return;
    const { id, end, leaseExpiresAt } = made;
    const held: Held = { id, released: "no", end, leaseExpiresAt };
    this.#byKey.set(key, held);
    caller.live.push(held);
  }

  async #release(caller: Caller): Promise<void> {
    const [held] = caller.live.splice(Math.trunc(this.#options.random() * caller.live.length), 1);
    if (!held) return;
    const { tenantId } = this.#options;
    held.released = "perhaps";
    const done = await this.#call("release", caller, true, (berth) =>
      berth.reservations.release({ tenantId, reservationId: held.id }),
    );
    if (done !== undefined) held.released = "yes";
  }

  async #renew(caller: Caller): Promise<void> {
    const held = caller.live.find(({ leaseExpiresAt }) => leaseExpiresAt !== null);
    if (!held) return this.#read(caller);
    const { tenantId } = this.#options;
    const renewed = await this.#call("renew", caller, true, (berth) =>
      berth.reservations.renew({ tenantId, reservationId: held.id }),
    );
    if (renewed) held.leaseExpiresAt = renewed.leaseExpiresAt;
  }

  async #extend(caller: Caller): Promise<void> {
    const held = caller.live.at(-1);
    if (!held) return;
    const { tenantId } = this.#options;
    const end = held.end + HOUR;
    const extended = await this.#call("extend", caller, false, (berth) =>
      berth.reservations.extend({ tenantId, reservationId: held.id, end }),
    );
    if (extended) held.end = extended.end;
  }

  async #preview(caller: Caller): Promise<void> {
    const { tenantId, poolIds } = this.#options;
    const ask = { devices: [{ class: "gpu" as const, count: 4 }], duration: "2h" };
    await this.#call("preview", caller, true, (berth) =>
      berth.capacity.preview({ tenantId, poolId: poolIds[0] ?? "", ...ask }),
    );
  }

  /** A read sees what this caller was told before. */
  async #read(caller: Caller): Promise<void> {
    const held = caller.live.at(-1);
    if (!held) return;
    const { tenantId } = this.#options;
    await this.#call("get", caller, true, async (berth) => {
      const { state, end } = await berth.reservations.get({ tenantId, reservationId: held.id });
      if (state !== "active" || end < held.end)
        throw new Error(`${held.id}, held to ${held.end}, was read as ${state} to ${end}`);
    });
  }

  async #call<T>(
    name: string,
    caller: Caller,
    repeatable: boolean,
    run: (berth: Berth) => Promise<T>,
  ): Promise<T | undefined> {
    const clients = this.#clients;
    const via = (caller.number + this.calls.length) % clients.length;
    const berth = clients[via];
    if (!berth) throw new Error("a load needs a client");
    const startedAt = performance.now();
    const note = (outcome: Outcome, error: string | null): void => {
      const endedAt = performance.now();
      this.calls.push({ name, outcome, via, startedAt, endedAt, repeatable, error });
    };
    try {
      const value = await run(berth);
      note("ack", null);
      return value;
    } catch (error) {
      note(outcomeOf(error), error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}

async function expectNothing(wrong: Promise<readonly string[]>): Promise<void> {
  expect(await wrong).toEqual([]);
}

function outcomeOf(error: unknown): Outcome {
  if (!isBerthError(error)) return "unexpected";
  if (error.code === "UNAVAILABLE") return "unavailable";
  return UNKNOWN.test(error.code) ? "unknown" : "unexpected";
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly end: number;
  readonly leaseExpiresAt: number | null;
}

async function reservationsIn({ sql }: TestDatabase): Promise<Map<string, Row>> {
  const rows = await sql<Row[]>`
    select id, state, "end", lease_expires_at as "leaseExpiresAt" from reservations`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** What was answered about a booking and is not so in its row; it may be further on. */
function differences(held: Held, row: Row | undefined): string[] {
  if (!row) return [`${held.id} is not there`];
  const wrong: string[] = [];
  const states = { no: ["active", "released"], yes: ["released"], perhaps: ["active", "released"] };
  if (!states[held.released].includes(row.state))
    wrong.push(`${held.id}, released: ${held.released}, is ${row.state}`);
  if (row.state !== "active") return wrong;
  if (row.end < held.end) wrong.push(`${held.id} was to end at ${held.end}, ends at ${row.end}`);
  if ((held.leaseExpiresAt ?? 0) > (row.leaseExpiresAt ?? 0))
    wrong.push(`${held.id} was renewed to ${held.leaseExpiresAt}, has ${row.leaseExpiresAt}`);
  return wrong;
}
