/**
 * Two pools and their clock, and whatever is done to them in batches, as the engine does it: leases are
 * minded, time does what is due, the freed is used, a command is planned and, when refused, taken back.
 */
import { putNodes } from "../../fleet/put-nodes.ts";
import {
  type DeriveId,
  type Id,
  type IdPrefix,
  type NodeId,
  type ReservationId,
  freshId,
} from "../../ids.ts";
import type { Node, PoolConfig, PoolSnapshot } from "../../model.ts";
import type { Result } from "../../refusal.ts";
import type { CreateAsk } from "../../reservations/create.ts";
import { applyDue } from "../../reservations/due.ts";
import { useFreed } from "../../reservations/freed.ts";
import { type Outage, applyGrace } from "../../reservations/grace.ts";
import { NOW, derive, gpuPool, poolConfig } from "../../reservations/test-kit.ts";
import { PoolState } from "../../state/pool-state.ts";
import { type Change, type DomainEvent, type Turn, frees } from "../../turn.ts";
import { changed } from "../history.ts";
import { type NodeDraw, type Start, SITE, nodeIdAt, policyOf, reportOf } from "./start.ts";
import type { Host, Remarks } from "./take.ts";

export type Told = Pick<DomainEvent, "type" | "views"> & {
  readonly reservationId?: string | null;
};

export class BatchTurn implements Turn, Remarks {
  readonly state: PoolState;
  readonly derive: DeriveId = derive;
  readonly changes: Change[] = [];
  readonly events: Told[] = [];
  readonly now: number;
  /** Changes before this place only minded leases. */
  graced = 0;
  /** Something was freed at some time, and used. */
  hasFreed = false;
  lacksRoom: CreateAsk | null = null;
  wentAway: ReservationId | null = null;
  readonly #world: World;
  #freed = false;

  constructor(world: World, state: PoolState) {
    this.#world = world;
    this.state = state;
    this.now = world.now;
  }

  apply(change: Change): void {
    this.state.apply(change);
    this.changes.push(change);
    if (frees(change)) this.markFreed();
  }

  markFreed(): void {
    this.#freed = true;
  }

  takeFreed(): boolean {
    const freed = this.#freed;
    this.#freed = false;
    this.hasFreed ||= freed;
    return freed;
  }

  isServing(serverId: string): boolean {
    return !this.#world.gone.has(serverId);
  }

  emit(event: Told): void {
    this.events.push(event);
  }

  freshId<P extends IdPrefix>(prefix: P): Id<P> {
    this.#world.ids += 1;
    const random = new Uint8Array(10);
    random[8] = this.#world.ids >> 8;
    random[9] = this.#world.ids & 255;
    return freshId(prefix, this.now, random);
  }

  /** Everything since the checkpoint was never done. */
  rollback(to: {
    readonly changes: number;
    readonly events: number;
    readonly freed: boolean;
  }): void {
    while (this.changes.length > to.changes) this.state.revert(this.changes.pop() as Change);
    this.events.length = to.events;
    this.#freed = to.freed;
  }

  checkpoint(): { changes: number; events: number; freed: boolean } {
    return { changes: this.changes.length, events: this.events.length, freed: this.#freed };
  }
}

export interface Gate {
  readonly state: PoolState;
  /** The same as plain rows, kept by the plainest means. */
  rows: PoolSnapshot;
  /** Reservations that ended. */
  readonly ended: Set<ReservationId>;
  /** Another server's: it reads the rows that changed, now and then. */
  follower: PoolState;
  /** Changes that the follower has not read. */
  unread: Change[];
}

/** One batch of one pool, right after it was done. */
export interface Batch {
  readonly gate: Gate;
  readonly before: PoolSnapshot;
  readonly turn: BatchTurn;
  readonly outages: readonly Outage[];
  /** Node moves: what frees there is used by the next batch. */
  readonly leavesFreed: boolean;
}

type Command = (turn: BatchTurn) => Result<unknown>;

export class World implements Host<Batch, Gate> {
  now: number = NOW;
  ids = 0;
  readonly gates: readonly [Gate, Gate];
  readonly gone: Set<string> = new Set<string>();
  /** Since then nobody trusts the clock. */
  heldSince: number | null = null;
  /** What nodes were when they were removed. */
  readonly removed: Map<NodeId, Node> = new Map<NodeId, Node>();
  readonly draws: readonly NodeDraw[];

  constructor(start: Start) {
    this.draws = start.nodes;
    const [one, two] = start.pools.map((_, at) => this.#open(gpuPool(0, 0, configAt(start, at))));
    this.gates = [one as Gate, two as Gate];
    start.nodes.forEach((draw, n) => {
      const gate = this.gates[draw.pool] as Gate;
      const turn = new BatchTurn(this, gate.state);
      const nodes = [{ id: nodeIdAt(n), report: reportOf(n, draw) }];
      putNodes(turn, { siteId: SITE, ownerId: "t-own", nodes });
      for (const change of turn.changes) gate.rows = changed(gate.rows, change);
      gate.follower = PoolState.load(gate.rows);
    });
  }

  gateOf(id: NodeId): Gate | undefined {
    return this.gates.find(({ state }) => state.node(id) !== undefined);
  }

  /** A batch of one command; refused, it leaves what time did. */
  submit(gate: Gate, command: Command, outages: readonly Outage[] = []): Batch {
    const turn = this.#openTurn(gate, outages);
    useFreed(turn);
    const start = turn.checkpoint();
    if (command(turn).ok) useFreed(turn);
    else turn.rollback(start);
    return this.#batch(gate, turn, outages, false);
  }

  /** Time did something, or what was freed was left to be used. */
  settle(gate: Gate, outages: readonly Outage[] = []): Batch {
    return this.submit(
      gate,
      (turn) => {
        turn.markFreed();
        return { ok: true, value: null };
      },
      outages,
    );
  }

  /** One command that writes both pools. */
  move(
    from: Gate,
    to: Gate,
    command: (from: BatchTurn, to: BatchTurn) => Result<unknown>,
  ): Batch[] {
    const [a, b] = [this.#openTurn(from, []), this.#openTurn(to, [])];
    const [startA, startB] = [a.checkpoint(), b.checkpoint()];
    const done = command(a, b);
    if (!done.ok) {
      b.rollback(startB);
      a.rollback(startA);
    }
    return [this.#batch(from, a, [], true), this.#batch(to, b, [], true)];
  }

  #openTurn(gate: Gate, outages: readonly Outage[]): BatchTurn {
    const turn = new BatchTurn(this, gate.state);
    applyGrace(turn, { outages, heldSince: this.heldSince });
    turn.graced = turn.changes.length;
    applyDue(turn);
    return turn;
  }

  #batch(gate: Gate, turn: BatchTurn, outages: readonly Outage[], leavesFreed: boolean): Batch {
    const before = gate.rows;
    for (const change of turn.changes) {
      gate.rows = changed(gate.rows, change);
      if (change.kind === "reservation" && change.after.endedAt !== null)
        gate.ended.add(change.after.id);
    }
    gate.unread.push(...turn.changes);
    return { gate, before, turn, outages, leavesFreed };
  }

  #open(rows: PoolSnapshot): Gate {
    const state = PoolState.load(rows);
    return { state, rows, ended: new Set(), follower: PoolState.load(rows), unread: [] };
  }
}

/** `t-d` is below `t-a`, whose quota it uses. */
const OFFERS = [
  { tenantId: "t-a", includeDescendants: true, priority: 0 },
  { tenantId: "t-b", includeDescendants: false, priority: 5 },
];

/** What the pools are made of, before they have nodes. */
export function configAt(start: Start, at: number): PoolConfig {
  const pool = start.pools[at] as Start["pools"][number];
  return poolConfig({
    id: `pool_${String(at).padStart(26, "0")}`,
    sharing: pool.sharing,
    policy: policyOf(pool),
    offers: OFFERS,
    quotas: start.quotas,
  });
}
