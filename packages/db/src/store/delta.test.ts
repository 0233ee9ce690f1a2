/** Who follows a pool by what changed holds the same as who loads it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Change, Node, PoolConfig, Reservation, UnitReservation, Waiter } from "@berth/domain";
import type { Database } from "../database.ts";
import {
  HOUR,
  T0,
  batchOf,
  bookingOf,
  fenceOf,
  nodeOf,
  poolOf,
  waiterOf,
} from "../testing/fixtures.ts";
import { seedPool } from "../testing/index.ts";
import { seededRandom } from "../testing/random.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";
import type { Delta, Loaded, PoolStore } from "./types.ts";

let room: StoreRoom;
let db: Database;
let store: PoolStore;

beforeAll(async () => {
  room = await openRoom(2);
  ({ db, store } = room);
});
afterAll(() => room.close());

/** Makes one legal change after another to a pool that it also remembers. */
class Author {
  config: PoolConfig;
  readonly nodes = new Map<string, Node>();
  readonly live = new Map<string, Reservation>();
  readonly fences = new Map<string, UnitReservation>();
  readonly waiters = new Map<string, Waiter>();
  readonly #random: () => number;
  #serial: number;

  constructor(config: PoolConfig, nodes: readonly Node[], random: () => number) {
    this.config = config;
    // Ids that no other pool of this file has.
    this.#serial = Number(config.id.slice(-4)) * 1000;
    for (const node of nodes) this.nodes.set(node.id, node);
    this.#random = random;
  }

  /** At most one change a target, as a batch demands; a node leaves in a batch of its own. */
  changes(): Change[] {
    const made = new Map<string, Change>();
    const count = 1 + Math.floor(this.#random() * 6);
    for (let i = 0; i < count; i += 1) {
      const change = this.#one();
      const target = change && targetOf(change);
      if (!change || !target || made.has(target)) continue;
      const leaves = change.kind === "node" && change.after === null;
      if (leaves && made.size > 0) continue;
      if (leaves) i = count;
      this.#take(change);
      made.set(target, change);
    }
    return [...made.values()];
  }

  #one(): Change | null {
    const kind = this.#random();
    if (kind < 0.15) return this.#fence();
    if (kind < 0.3) return this.#wait();
    const dice = this.#random();
    if (dice < 0.45) return this.#create();
    const before = this.#pick([...this.live.values()]);
    if (before && dice < 0.6) return this.#revise(before, { end: before.end + 1 });
    if (before && dice < 0.8)
      return this.#revise(before, {
        state: "released",
        endedAt: before.start + 1,
        endReason: "over",
      });
    if (dice < 0.88) {
      const config = this.config;
      const after = {
        ...config,
        version: config.version + 1,
        policy: { label: `v${config.version}` },
      };
      return { kind: "config", before: config, after };
    }
    const node = this.#pick([...this.nodes.values()]);
    if (!node) return null;
    if (dice < 0.97)
      return { kind: "node", before: node, after: { ...node, version: node.version + 1 } };
    const fenced = [...this.fences.values()].some(({ nodeId }) => nodeId === node.id);
    return this.nodes.size > 2 && !fenced ? { kind: "node", before: node, after: null } : null;
  }

  #fence(): Change | null {
    const before = this.#pick([...this.fences.values()]);
    if (before && this.#random() < 0.5) {
      const ends = this.#random() < 0.5;
      const end = { status: "cancelled" as const, endedAt: T0, updatedAt: T0 };
      const release = { releasedUnitIds: before.unitIds };
      const after = { ...before, ...(ends ? end : release) };
      return { kind: "unitReservation", before, after };
    }
    const node = this.#pick([...this.nodes.values()]);
    if (!node) return null;
    this.#serial += 1;
    const startsAt = T0 + this.#serial * HOUR;
    const after = fenceOf(this.#serial, node, { startsAt, endsAt: startsAt + 10 });
    return { kind: "unitReservation", before: null, after };
  }

  #wait(): Change {
    const before = this.#pick([...this.waiters.values()]);
    if (before && this.#random() < 0.5) return { kind: "waiter", before, after: null };
    this.#serial += 1;
    const after = waiterOf(this.#serial, this.config.id);
    return { kind: "waiter", before: null, after };
  }

  #create(): Change | null {
    const node = this.#pick([...this.nodes.values()]);
    if (!node) return null;
    this.#serial += 1;
    const start = T0 + this.#serial * HOUR;
    const poolId = this.config.id;
    const row = {
      poolId,
      state: "scheduled" as const,
      start,
      end: start + 10,
      units: [this.#serial % 8],
    };
    return { kind: "reservation", before: null, after: bookingOf(this.#serial, node, row) };
  }

  #revise(before: Reservation, change: Partial<Reservation>): Change {
    return {
      kind: "reservation",
      before,
      after: { ...before, ...change, version: before.version + 1 },
    };
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  #take(change: Change): void {
    switch (change.kind) {
      case "config":
        this.config = change.after;
        return;
      case "node":
        return put(this.nodes, change);
      case "waiter":
        return put(this.waiters, change);
      case "reservation":
      case "unitReservation": {
        const held: Map<string, unknown> = change.kind === "reservation" ? this.live : this.fences;
        const { before, after } = change;
        return put(held, { before, after: after?.endedAt === null ? after : null }, after?.id);
      }
    }
  }
}

function put<T extends { readonly id: string }>(
  held: Map<string, unknown>,
  { before, after }: { before: T | null; after: T | null },
  id: string = (after ?? before)?.id ?? "",
): void {
  if (after) held.set(id, after);
  else held.delete(id);
}

function targetOf(change: Change): string {
  if (change.kind === "config") return "config";
  return (change.after ?? change.before)?.id ?? "";
}

function follow(held: Loaded, delta: Delta): Loaded {
  const { snapshot } = held;
  type Row = { readonly id: string };
  const merge = <T extends Row>(
    old: readonly T[],
    rows: readonly { readonly id: string; readonly row: T | null }[],
  ): T[] => {
    const byId = new Map(old.map((row) => [row.id, row]));
    for (const { id, row } of rows) {
      if (row) byId.set(id, row);
      else byId.delete(id);
    }
    return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  };
  const live = <T extends Row & { readonly endedAt: number | null }>(row: T) => ({
    id: row.id,
    row: row.endedAt === null ? row : null,
  });
  return {
    head: delta.head,
    snapshot: {
      gateId: snapshot.gateId,
      config: delta.config ?? snapshot.config,
      nodes: merge(
        snapshot.nodes,
        delta.nodes.map((row) => ({ id: row.id, row })),
      ),
      reservations: merge(snapshot.reservations, delta.reservations.map(live)),
      unitReservations: merge(snapshot.unitReservations, delta.unitReservations.map(live)),
      waiters: merge(
        snapshot.waiters,
        delta.waiters.map(({ id, waiter }) => ({ id, row: waiter })),
      ),
    },
  };
}

test.each([1, 2, 3])(
  "after random batches a delta gives what a load gives (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    const pool = poolOf(seed);
    await seedPool(db, { config: pool, nodes: [1, 2, 3, 4].map((n) => nodeOf(seed * 100 + n)) });
    let held = await store.load(pool.id);
    const author = new Author(pool, held?.snapshot.nodes ?? [], random);
    let deltas = 0;
    for (let n = 0; held && n < 60; n += 1) {
      const batch = batchOf(`d${seed}-${n}`, { changes: author.changes(), nextDueAt: T0 + n });
      const head = await store.head(pool.id);
      const outcome = await store.apply(
        { gateId: pool.id, expectedSeq: head?.seq ?? 0, batch },
        T0,
      );
      expect(outcome.ok).toBe(true);
      if (random() < 0.5) continue;
      const delta = await store.delta(pool.id, held.head);
      const loaded: Loaded | null = await store.load(pool.id);
      if (!delta.reset) {
        deltas += 1;
        expect(follow(held, delta)).toEqual(loaded);
      }
      held = loaded;
    }
    expect(deltas).toBeGreaterThan(10);
    expect((await store.load(pool.id))?.snapshot.config).toEqual(author.config);
  },
);

test("a delta at the newest seq is empty", async () => {
  const pool = poolOf(9);
  await seedPool(db, { config: pool, nodes: [nodeOf(9)] });
  const head = await store.head(pool.id);
  expect(head && (await store.delta(pool.id, head))).toEqual({
    head,
    reset: false,
    config: null,
    nodes: [],
    reservations: [],
    unitReservations: [],
    waiters: [],
  });
});
