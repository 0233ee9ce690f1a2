/** Those who ask the servers for something, ask again when nobody answers, and remember what they were told. */
import {
  type GateId,
  type ReservationId,
  type Result,
  type Turn,
  type WaiterKey,
  createOrWait,
} from "@berth/domain";
import { type CreateStep, type HostCommand, askOf, dump, minutes } from "@berth/domain/testing";
import {
  Cancelled,
  Elsewhere,
  Fenced,
  KeyTaken,
  NoSuchGate,
  Overloaded,
  Unavailable,
} from "../../errors.ts";
import type { Command, Committed } from "../../types.ts";
import { type MemoryStore, StoreError } from "../memory-store.ts";
import type { Seeded } from "../seeded.ts";
import type { Checker } from "./checker.ts";
import { Hungup, type Server, type Servers } from "./servers.ts";
import type { VirtualTime } from "./virtual-time.ts";

interface World {
  readonly store: MemoryStore;
  readonly time: VirtualTime;
  readonly servers: Servers;
  readonly checker: Checker;
  readonly random: Seeded;
}

const ATTEMPTS = 8;
const EXPECTED = [
  Cancelled,
  Elsewhere,
  Fenced,
  Hungup,
  KeyTaken,
  NoSuchGate,
  Overloaded,
  StoreError,
  Unavailable,
];

export class Callers {
  readonly #world: World;
  readonly #waiting = new Set<AbortController>();
  /** How many have not been answered. */
  open = 0;
  acked = 0;
  #made = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Books or waits with a key of its own; now and then two callers do, at once. */
  create(gateId: GateId, step: CreateStep): void {
    const { random, store } = this.#world;
    const ask = askOf({ now: store.clock }, { rows: store.snapshot(gateId) }, step);
    this.#made += 1;
    const key: WaiterKey = { principal: "ci", key: `k${this.#made}`, requestHash: "h" };
    const timeoutMs = minutes(step.waits);
    const wish = (server: Server, signal: AbortSignal): Command<ReservationId | null> => ({
      name: "create",
      tenantId: ask.tenantId,
      key: { tenantId: ask.tenantId, ...key },
      signal,
      plan: (turn) => {
        const wait = { timeoutMs, serverId: server.engine.serverId, key };
        const asked = createOrWait(turn, ask, wait);
        if (!asked.ok) return asked;
        return asked.value.kind === "booked"
          ? { ok: true, value: asked.value.reservation.id }
          : ({ ok: true, value: asked.value.waiter } as unknown as Result<null>);
      },
    });
    const twins = random.below(10) === 0 ? 2 : 1;
    for (let twin = 0; twin < twins; twin += 1)
      this.#run(async () => {
        const hangUp = new AbortController();
        this.#waiting.add(hangUp);
        const id = await this.#booked(gateId, wish, hangUp.signal);
        this.#waiting.delete(hangUp);
        if (id) this.#world.checker.acked(gateId, { tenantId: ask.tenantId, ...key }, id);
      });
  }

  /** Anything else: it is asked for once. */
  submit(gateId: GateId, command: HostCommand): void {
    const { random } = this.#world;
    const tenantId = ["t-a", "t-b", "t-own"][random.below(3)] ?? "t-a";
    this.#run(async () => {
      const server = await this.#anyServer();
      await this.#asked(gateId, server, {
        name: "other",
        tenantId,
        plan: (turn) => command(Object.assign(turn, { lacksRoom: null, wentAway: null })),
      });
    });
  }

  move(from: GateId, to: GateId, plan: (from: Turn, to: Turn) => Result<unknown>): void {
    this.#run(async () => {
      const server = await this.#anyServer();
      await orDeath(server, server.engine.move({ from, to, create: false, plan }));
    });
  }

  /** Reads everything that a server holds of the pool, and has it looked at. */
  read(gateId: GateId): void {
    this.#run(async () => {
      const server = await this.#anyServer();
      const since = this.#world.checker.seqOf(gateId);
      const seen = await orDeath(
        server,
        server.engine.read(gateId, (state) => dump(state)),
      );
      if (seen) this.#world.checker.read(gateId, since, seen);
    });
  }

  rebuild(gateId: GateId): void {
    this.#run(async () => {
      const server = await this.#anyServer();
      await orDeath(server, server.engine.rebuild(gateId));
    });
  }

  /** One of those who may be waiting goes away. */
  hangUp(which: number): void {
    [...this.#waiting][which % Math.max(1, this.#waiting.size)]?.abort();
  }

  async #booked(
    gateId: GateId,
    wish: (server: Server, signal: AbortSignal) => Command<unknown>,
    signal: AbortSignal,
  ): Promise<ReservationId | null> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const server = await this.#anyServer();
      try {
        const { value, seq } = await this.#asked(gateId, server, wish(server, signal));
        if (!value.ok) return null;
        if (typeof value.value === "string") return value.value as ReservationId;
        const waiter = value.value as Parameters<Server["engine"]["wait"]>[0]["waiter"];
        const became = await orDeath(server, server.engine.wait({ waiter, since: seq }, signal));
        return became === "served" ? waiter.id : null;
      } catch (error) {
        if (error instanceof KeyTaken) return error.claim.reservationId;
        if (!(error instanceof Hungup || error instanceof Unavailable)) throw error;
      }
    }
    return null;
  }

  async #asked<T>(
    gateId: GateId,
    server: Server,
    command: Command<T>,
  ): Promise<Committed<Result<T>>> {
    const since = this.#world.checker.seqOf(gateId);
    const decided = await orDeath(server, server.engine.submit(gateId, command));
    this.acked += 1;
    this.#world.checker.answered(gateId, since, decided);
    return decided;
  }

  async #anyServer(): Promise<Server> {
    const { servers, time, random } = this.#world;
    for (;;) {
      const server = servers.alive[random.below(servers.alive.length)];
      if (server) return server;
      await time.pause(20);
    }
  }

  #run(ask: () => Promise<void>): void {
    this.open += 1;
    void ask()
      .catch((error: unknown) => {
        if (!EXPECTED.some((kind) => error instanceof kind))
          this.#world.checker.fault(`a caller was answered ${String(error)}`);
      })
      .finally(() => (this.open -= 1));
  }
}

function orDeath<T>(server: Server, answer: Promise<T>): Promise<T> {
  return Promise.race([answer, server.dies]);
}
