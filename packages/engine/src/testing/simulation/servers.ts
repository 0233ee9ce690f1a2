/** The servers of one simulation: they come, they stop for a while, and they vanish between two awaits. */
import { type Engine, createEngine } from "../../engine.ts";
import { type Seeded, seeded } from "../seeded.ts";
import type { EngineLog, EngineOptions } from "../../types.ts";
import { Connection, type Network } from "./connection.ts";

/** The server that a caller was connected to is no more. */
export class Hungup extends Error {
  constructor() {
    super("the server has gone");
    this.name = "Hungup";
  }
}

export interface Server {
  readonly engine: Engine;
  readonly connection: Connection;
  /** Rejects when it dies. */
  readonly dies: Promise<never>;
  kill(): void;
}

/** Errors that a server writes down, though nobody had asked for them. */
const EXPECTED_ERRORS =
  /^(the database refused a planned batch|the database's clock leapt forward)/;

export class Servers {
  readonly alive: Server[] = [];
  killed = 0;
  readonly #network: Network;
  readonly #random: Seeded;
  readonly #options: Partial<EngineOptions>;
  readonly #fault: (what: string) => void;
  /** How often servers were in each of their tight spots. */
  readonly met = { gateLost: 0, lockedPlan: 0, violation: 0, outage: 0, committed: 0, aborted: 0 };

  constructor(
    network: Network,
    {
      random,
      crowded,
      fault,
    }: {
      readonly random: Seeded;
      readonly crowded: boolean;
      readonly fault: (what: string) => void;
    },
  ) {
    this.#network = network;
    this.#random = random;
    this.#fault = fault;
    this.#options = {
      lifecycleMs: 500,
      rebuildMs: 0,
      batchMax: crowded ? 1 : 1 + random.below(8),
      planSliceMs: random.below(4) === 0 ? -1 : 1_000,
    };
  }

  start(): void {
    const { time } = this.#network;
    const connection = new Connection(this.#network);
    const random = seeded(this.#random.below(2 ** 31));
    let dead = false;
    const dies = Promise.withResolvers<never>();
    dies.promise.catch(() => undefined);
    const engine = createEngine({
      store: connection,
      random: random.bytes,
      elapsed: () => time.now,
      scheduler: {
        delay: async (ms, { signal } = {}) => {
          await time.pause(ms, signal);
          if (dead) await dies.promise.catch(() => new Promise(() => undefined));
        },
        yield: () => time.pause(0),
      },
      observer: {
        gateLost: () => (this.met.gateLost += 1),
        lockedPlan: () => (this.met.lockedPlan += 1),
        violation: () => (this.met.violation += 1),
        outage: () => (this.met.outage += 1),
        unknownOutcome: (became) => {
          if (became !== "unresolved") this.met[became] += 1;
        },
      },
      log: this.#log(),
      options: this.#options,
    });
    const kill = (): void => {
      dead = true;
      this.killed += 1;
      connection.die();
      this.alive.splice(this.alive.indexOf(server), 1);
      dies.reject(new Hungup());
    };
    const server = { engine, connection, dies: dies.promise, kill };
    this.alive.push(server);
    engine.start();
  }

  #log(): EngineLog {
    return {
      info: () => undefined,
      warn: () => undefined,
      error: (fields, message) => {
        if (!EXPECTED_ERRORS.test(message))
          this.#fault(`a server says: ${message} ${JSON.stringify(fields)}`);
      },
    };
  }
}
