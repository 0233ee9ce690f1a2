/**
 * One life of two pools under several servers, all of it drawn from a seed: who asks what, when each
 * message arrives, what is lost, which server vanishes between two awaits, and how time goes on.
 */
import type { GateId, NodeId } from "@berth/domain";
import {
  type Host,
  type HostCommand,
  type HostGate,
  type Start,
  type Step,
  SITE,
  configAt,
  historyOf,
  minutes,
  nodeIdAt,
  reportOf,
  take,
} from "@berth/domain/testing";
import { type Result, type Turn, putNodes } from "@berth/domain";
import { NOW } from "../fixtures.ts";
import { MemoryStore } from "../memory-store.ts";
import { type Seeded, seeded } from "../seeded.ts";
import { Callers } from "./callers.ts";
import { Checker } from "./checker.ts";
import type { Mishap, Network } from "./connection.ts";
import { Servers } from "./servers.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface Life {
  readonly seed: number;
  readonly start: Start;
  /** Each with its own number, which decides what happens around it. */
  readonly steps: readonly { readonly n: number; readonly step: Step }[];
}

export interface Lived {
  readonly faults: readonly string[];
  readonly writes: number;
  readonly acked: number;
  readonly killed: number;
  readonly met: Servers["met"];
  readonly mishaps: ReadonlyMap<Mishap, number>;
}

export function lifeOf(seed: number, length: number): Life {
  const { start, steps } = historyOf(seed, length);
  return { seed, start, steps: steps.map((step, n) => ({ n, step })) };
}

/** Lives through it, up to the first fault. */
export async function simulate(life: Life): Promise<Lived> {
  const simulation = new Simulation(life);
  return simulation.run();
}

const OPEN_MAX = 16;
/** Tasks until everybody has to be answered. */
const PATIENCE = 40_000;
const MISHAP_RATES = [0, 0.02, 0.05, 0.15];

class Simulation {
  readonly #life: Life;
  readonly #store = new MemoryStore(NOW);
  readonly #time: VirtualTime;
  readonly #network: Network;
  readonly #servers: Servers;
  readonly #checker: Checker;
  readonly #callers: Callers;
  readonly #host: Host<void, HostGate>;
  /** Tasks for which the first pool is written to all the time. */
  #rush = 0;

  constructor(life: Life) {
    this.#life = life;
    const random = seeded(life.seed);
    const store = this.#store;
    this.#time = new VirtualTime(seeded(random.below(2 ** 31)));
    this.#time.passed = (ms) => {
      store.clock += ms;
      store.wall += ms;
    };
    this.#network = {
      store,
      time: this.#time,
      random: seeded(random.below(2 ** 31)),
      rate: 0,
      mishaps: new Map(),
    };
    // One life in eight is looked at as a whole after each write, the others now and then.
    this.#checker = new Checker(store, life.seed % 8 === 0 ? 1 : 12);
    const fault = (what: string): void => this.#checker.fault(what);
    this.#servers = new Servers(this.#network, {
      random: seeded(random.below(2 ** 31)),
      crowded: this.#crowded,
      fault,
    });
    this.#callers = new Callers({
      store,
      time: this.#time,
      servers: this.#servers,
      checker: this.#checker,
      random: seeded(random.below(2 ** 31)),
    });
    this.#host = new SimulatedHost(life.start, store, this.#callers);
  }

  async run(): Promise<Lived> {
    await this.#open();
    this.#network.rate = MISHAP_RATES[this.#life.seed % MISHAP_RATES.length] ?? 0;
    for (const { n, step } of this.#life.steps) {
      const random = seeded(this.#life.seed * 7_919 + n);
      this.#meddle(random);
      this.#take(step, random);
      const tasks = random.below(4) === 0 ? random.below(40) : random.below(8);
      await this.#step(this.#crowded ? random.below(3) : tasks);
      const most = this.#crowded ? 4 * OPEN_MAX : OPEN_MAX;
      await this.#untilOpen(most, "in between");
      if (this.#failed) break;
    }
    if (!this.#failed) await this.#close();
    const { met, killed } = this.#servers;
    return {
      faults: this.#checker.faults,
      writes: this.#checker.writes,
      acked: this.#callers.acked,
      killed,
      met,
      mishaps: this.#network.mishaps,
    };
  }

  /** Everybody asks at once, and every server writes one at a time: they take the pool from each other. */
  get #crowded(): boolean {
    return this.#life.seed % 5 === 0;
  }

  get #failed(): boolean {
    return this.#checker.faults.length > 0;
  }

  async #step(tasks: number): Promise<void> {
    for (let n = 0; n < tasks && !this.#failed; n += 1) {
      await this.#time.step();
      if (this.#rush > 0) this.#overtake();
    }
  }

  /** Another server, which asks after writes that it lost, takes the number that all others plan for. */
  #overtake(): void {
    this.#rush -= 1;
    if (this.#rush % 2 === 0)
      void this.#store.outcome(configAt(this.#life.start, 0).id, "a batch that was never written");
  }

  /** Until so few callers have not been answered. */
  async #untilOpen(most: number, when: string): Promise<void> {
    const { open } = this.#callers;
    for (let n = 1; this.#callers.open > most && n < PATIENCE && !this.#failed; n += 1) {
      await this.#step(1);
      // Whoever asked again when its server was killed has begun to wait anew.
      if (n % 1_000 === 0) this.#store.turnClock(minutes(15));
    }
    if (this.#callers.open > most && !this.#failed)
      this.#checker.fault(`${when}: of ${open} callers ${this.#callers.open} were never answered`);
  }

  /** The pools and their nodes, made by a server as in life. */
  async #open(): Promise<void> {
    const { start } = this.#life;
    this.#servers.start();
    const [server] = this.#servers.alive;
    const ask = (gateId: GateId, create: boolean, plan: (turn: Turn) => Result<unknown>): void =>
      void server?.engine.submit(gateId, { name: "open", tenantId: "t-own", create, plan });
    start.pools.forEach((_, at) => {
      const after = configAt(start, at);
      ask(after.id, true, (turn) => {
        turn.apply({ kind: "config", before: null, after });
        return { ok: true, value: null };
      });
    });
    start.nodes.forEach((draw, n) => {
      const nodes = [{ id: nodeIdAt(n), report: reportOf(n, draw) }];
      ask(configAt(start, draw.pool).id, false, (turn) =>
        putNodes(turn, { siteId: SITE, ownerId: "t-own", nodes }),
      );
    });
    const made = (): number =>
      [...this.#store.gates.values()].reduce((sum, { nodes }) => sum + nodes.size, 0);
    for (let n = 0; n < PATIENCE && made() < start.nodes.length; n += 1) await this.#time.step();
    this.#servers.start();
    if (this.#crowded || this.#life.seed % 3 === 0) this.#servers.start();
    await this.#step(20);
  }

  /** Whatever befalls servers, whoever asks what. */
  #meddle(random: Seeded): void {
    const { alive } = this.#servers;
    const one = alive[random.below(alive.length)];
    const draw = random.below(100);
    if (draw < 3 && one) one.kill();
    else if (draw < 8 && alive.length < 3) this.#servers.start();
    else if (draw < 10) one?.connection.stopFor(random.below(9_000));
    else if (draw < 11) this.#callers.rebuild(this.#anyGate(random));
    else if (draw < 14) this.#time.leap(random.below(1_500));
    else if (draw < 17) this.#time.leap(3_500 + random.below(90_000));
    else if (draw < 19 && this.#crowded) this.#rush = 400;
    else if (draw < 45) this.#callers.read(this.#anyGate(random));
    if (alive.length === 0) this.#servers.start();
  }

  #anyGate(random: Seeded): GateId {
    return configAt(this.#life.start, random.below(4) === 0 ? 1 : 0).id;
  }

  #take(step: Step, random: Seeded): void {
    const { alive } = this.#servers;
    switch (step.do) {
      case "create":
        return this.#callers.create(configAt(this.#life.start, step.pool).id, step);
      case "stopWaiting":
        return this.#callers.hangUp(step.which);
      case "pass":
        return this.#store.turnClock(minutes(step.minutes));
      case "outage":
        return this.#time.leap(minutes(step.minutes));
      case "server":
        if (alive.length > 1) alive[random.below(alive.length)]?.kill();
        return;
      case "distrust":
        if (this.#store.heldSince !== null) return this.#store.acceptClock();
        this.#store.clock += minutes(2);
        this.#store.wall += minutes(2);
        return;
      default:
        take(this.#host, step);
    }
  }

  /** Faults end, everybody is answered, time runs out for those who wait: then the books must be right. */
  async #close(): Promise<void> {
    this.#network.rate = 0;
    this.#store.acceptClock();
    await this.#step(200);
    this.#store.turnClock(minutes(15));
    await this.#untilOpen(0, "in the end");
    for (const gateId of this.#store.gates.keys()) {
      this.#callers.submit(gateId, () => ({ ok: true, value: null }));
      this.#callers.rebuild(gateId);
    }
    await this.#untilOpen(0, "settling");
    for (const gateId of this.#store.gates.keys())
      for (let n = 0; n < 2 * this.#servers.alive.length; n += 1) this.#callers.read(gateId);
    await this.#untilOpen(0, "reading");
    if (!this.#failed) this.#checker.finish();
  }
}

class SimulatedHost implements Host<void, HostGate> {
  heldSince: number | null = null;
  readonly gates: readonly [HostGate, HostGate];
  readonly gone: Set<string> = new Set<string>();
  readonly removed: Host<void, HostGate>["removed"] = new Map();
  readonly draws: Start["nodes"];
  readonly #store: MemoryStore;
  readonly #callers: Callers;

  constructor(start: Start, store: MemoryStore, callers: Callers) {
    this.draws = start.nodes;
    this.#store = store;
    this.#callers = callers;
    const gate = (at: number): HostGate => {
      const { id } = configAt(start, at);
      return {
        get rows() {
          return store.snapshot(id);
        },
      };
    };
    this.gates = [gate(0), gate(1)];
  }

  get now(): number {
    return this.#store.clock;
  }

  gateOf(id: NodeId): HostGate | undefined {
    return this.gates.find(({ rows }) => rows.nodes.some((node) => node.id === id));
  }

  submit(gate: HostGate, command: HostCommand): void {
    this.#callers.submit(gate.rows.gateId, command);
  }

  move(from: HostGate, to: HostGate, plan: (from: Turn, to: Turn) => Result<unknown>): void[] {
    return [this.#callers.move(from.rows.gateId, to.rows.gateId, plan)];
  }
}
