/** A plan that was made while a table was small is kept when it no longer is: it has to be one by key. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Change, invariant } from "@berth/domain";
import {
  HOUR,
  T0,
  batchOf,
  bookingOf,
  changed,
  created,
  nodeOf,
  poolOf,
} from "../testing/fixtures.ts";
import { seedPool } from "../testing/index.ts";
import { type StoreRoom, openRoom } from "./test-kit.ts";

let room: StoreRoom;

// One connection that writes: it alone has the plans, and tells its counts when it is asked to.
beforeAll(async () => (room = await openRoom(1)));
afterAll(() => room.close());

/** A connection makes the plan that it keeps at a statement's sixth time. */
const TIMES_PLANNED = 10;
const LATER = 300;

/** Rows of reservations that plans by its indexes have read. */
async function read(): Promise<number> {
  const { slots } = room.db;
  await slots.run("select pg_stat_force_next_flush()");
  const [row] = await slots.run<{ n: number }>(
    "select sum(idx_tup_read)::int as n from pg_stat_user_indexes where relname = 'reservations'",
  );
  return row?.n ?? Number.NaN;
}

test.each([
  ["one pool", [1]],
  ["three pools in one statement", [2, 3, 4]],
])("who changes a reservation of %s reads no other of them", async (_, numbers) => {
  const places = numbers.map((n) => ({ pool: poolOf(n), node: nodeOf(n) }));
  for (const { pool, node } of places) await seedPool(room.db, { config: pool, nodes: [node] });
  let seq = 1;
  const write = async (changesOf: (at: number) => Change[]): Promise<void> => {
    const batches = places.map(({ pool: { id: gateId } }, at) => {
      const batch = batchOf(`${gateId}-${seq}`, { changes: changesOf(at) });
      return room.store.apply({ gateId, expectedSeq: seq, batch }, T0);
    });
    for (const outcome of await Promise.all(batches))
      expect(outcome).toEqual({ ok: true, seq: seq + 1 });
    seq += 1;
  };
  const bookingAt = (at: number, n: number) => {
    const place = places[at];
    invariant(place, "each write is of one of the places");
    const { pool, node } = place;
    const start = T0 + (n + 1) * HOUR;
    const window = { state: "scheduled", start, end: start + HOUR } as const;
    return bookingOf(`${numbers[at]}x${n}`, node, { poolId: pool.id, units: [0], ...window });
  };
  const change = (version: number) => write((at) => [changed(bookingAt(at, 0), { version })]);
  await write((at) => [created(bookingAt(at, 0))]);
  for (let version = 2; version < TIMES_PLANNED; version += 1) await change(version);
  await write((at) => Array.from({ length: LATER }, (__, n) => created(bookingAt(at, n + 1))));

  const before = await read();
  for (let version = 0; version < TIMES_PLANNED; version += 1)
    await change(TIMES_PLANNED + version);
  // Each looks one up, and may meet its own earlier versions on the way.
  expect((await read()) - before).toBeLessThan((places.length * LATER) / 2);
});
