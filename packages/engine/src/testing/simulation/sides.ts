/** The same life on the simulated database and on PostgreSQL: what a step did there, as text to compare. */
import type { PoolStore } from "@berth/db";
import {
  type GateId,
  type PoolSnapshot,
  type Result,
  type Turn,
  createOrWait,
  putNodes,
} from "@berth/domain";
import {
  type Host,
  type HostGate,
  type Start,
  type Step,
  SITE,
  askOf,
  configAt,
  minutes,
  nodeIdAt,
  reportOf,
  take,
} from "@berth/domain/testing";
import { type Engine, createEngine } from "../../engine.ts";
import type { Command } from "../../types.ts";
import { NOW } from "../fixtures.ts";
import { seeded } from "../seeded.ts";

/** What one kind of database offers beyond its store. */
export interface Database {
  readonly store: PoolStore;
  turnClock(ms: number): Promise<void>;
  acceptClock(): Promise<void>;
  /** The next write of a batch is lost on its way there, or its answer on the way back. */
  lose(way: "before" | "after"): void;
  /** Writes that were lost so far. */
  readonly lost: number;
  /** Every event, as each tenant sees it, with its place in the order. */
  events(gateId: GateId): Promise<object[]>;
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** One database with one server. */
export class Side {
  readonly #start: Start;
  readonly #database: Database;
  readonly #engine: Engine;
  #random = seeded(0);
  #now: number = NOW;
  #keys = 0;

  constructor(start: Start, database: Database) {
    this.#start = start;
    this.#database = database;
    this.#engine = createEngine({
      store: database.store,
      random: (count) => this.#random.bytes(count),
      elapsed: () => 0,
      log: quiet,
    });
  }

  async open(): Promise<string[]> {
    const told: string[] = [];
    for (const at of [0, 1]) {
      const after = configAt(this.#start, at);
      const plan = (turn: Turn): Result<null> => {
        turn.apply({ kind: "config", before: null, after });
        return { ok: true, value: null };
      };
      told.push(await this.#submit(after.id, { name: "open", tenantId: "", create: true, plan }));
    }
    for (const [n, draw] of this.#start.nodes.entries()) {
      const nodes = [{ id: nodeIdAt(n), report: reportOf(n, draw) }];
      const plan = (turn: Turn): Result<unknown> =>
        putNodes(turn, { siteId: SITE, ownerId: "t-own", nodes });
      const { id } = configAt(this.#start, draw.pool);
      told.push(await this.#submit(id, { name: "open", tenantId: "", plan }));
    }
    return told;
  }

  /** @param n the same for the same step: it decides all that is drawn */
  async take(step: Step, n: number): Promise<string[]> {
    this.#random = seeded(n);
    const mishap = this.#random.below(8);
    if (mishap < 2) this.#database.lose(mishap === 0 ? "before" : "after");
    switch (step.do) {
      case "pass":
      case "outage":
        this.#now += minutes(step.minutes);
        await this.#database.turnClock(minutes(step.minutes));
        return this.#settled();
      case "distrust":
        if (n % 2 === 0) await this.#database.store.holdLeases(Number.MAX_SAFE_INTEGER);
        else await this.#database.acceptClock();
        return this.#settled();
      case "create":
        return [await this.#create(step)];
      case "server":
        return [];
      default:
        return this.#others(step);
    }
  }

  /** All that is stored, in a form that does not depend on who stores it. */
  async books(): Promise<string[]> {
    const books: unknown[] = [];
    for (const at of [0, 1]) {
      const { id } = configAt(this.#start, at);
      const stored = await this.#database.store.stored(id);
      const head = stored && { ...stored.head, sinceBeatMs: 0 };
      books.push(head, ...Object.values(stored?.snapshot ?? {}));
      books.push(byText(stored?.rollup ?? []), byText(stored?.used ?? []));
      books.push(...byText(await this.#database.events(id)));
      books.push(await this.#engine.rebuild(id));
    }
    return books.map(canonical);
  }

  async #settled(): Promise<string[]> {
    const told: string[] = [];
    for (const at of [0, 1])
      told.push(
        await this.#submit(configAt(this.#start, at).id, {
          name: "settle",
          tenantId: "",
          plan: () => ({ ok: true, value: null }),
        }),
      );
    return told;
  }

  /** Every fifth one brings a key that was used before. */
  async #create(step: Extract<Step, { do: "create" }>): Promise<string> {
    const { id } = configAt(this.#start, step.pool);
    const rows = await this.#rows(id);
    const ask = askOf({ now: this.#now }, { rows }, step);
    this.#keys += 1;
    const number = this.#keys % 5 === 0 ? this.#keys - 3 : this.#keys;
    const key = { principal: "ci", key: `k${number}`, requestHash: "h" };
    const wait = { timeoutMs: minutes(step.waits), serverId: this.#engine.serverId, key };
    return this.#submit(id, {
      name: "create",
      tenantId: ask.tenantId,
      key: { tenantId: ask.tenantId, ...key },
      plan: (turn) => createOrWait(turn, ask, wait),
    });
  }

  async #others(step: Step): Promise<string[]> {
    const [one, two] = [configAt(this.#start, 0).id, configAt(this.#start, 1).id];
    const rows = [await this.#rows(one), await this.#rows(two)] as const;
    const gates = [{ rows: rows[0] }, { rows: rows[1] }] as const;
    const host: Host<Promise<string>, HostGate> = {
      now: this.#now,
      heldSince: null,
      gates,
      gone: new Set(),
      removed: this.#removed,
      draws: this.#start.nodes,
      gateOf: (id) => gates.find((gate) => gate.rows.nodes.some((node) => node.id === id)),
      submit: (gate, command) =>
        this.#submit(gate.rows.gateId, {
          name: step.do,
          tenantId: "",
          plan: (turn) => command(Object.assign(turn, { lacksRoom: null, wentAway: null })),
        }),
      move: (from, to, plan) => [
        told(
          this.#engine.move({
            from: from.rows.gateId,
            to: to.rows.gateId,
            create: false,
            plan,
          }),
        ),
      ],
    };
    return Promise.all(take(host, step));
  }

  readonly #removed: Host<unknown, HostGate>["removed"] = new Map();

  async #rows(gateId: GateId): Promise<PoolSnapshot> {
    const loaded = await this.#database.store.load(gateId);
    if (!loaded) throw new Error(`there is no ${gateId}`);
    return loaded.snapshot;
  }

  #submit(gateId: GateId, command: Command<unknown>): Promise<string> {
    return told(this.#engine.submit(gateId, command));
  }
}

async function told(answer: Promise<unknown>): Promise<string> {
  return answer.then(canonical, (error: unknown) =>
    canonical(error instanceof Error ? [error.name, Object.entries(error)] : error),
  );
}

const byText = (rows: readonly object[]): object[] =>
  rows.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1));

/** Keys in order; a unit's number is the database's own. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (name, part: unknown) => {
    if (name === "key" && typeof part === "number") return undefined;
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
