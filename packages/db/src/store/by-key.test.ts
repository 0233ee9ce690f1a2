/** A plan that was made while a table was small is kept when it no longer is: it has to be one by key. */
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("who changes one of a pool's reservations reads no other of them", async () => {
  const [pool, node] = [poolOf(1), nodeOf(1)];
  await seedPool(room.db, { config: pool, nodes: [node] });
  let seq = 1;
  const write = async (batch: Parameters<typeof batchOf>[1]): Promise<void> => {
    const write = { gateId: pool.id, expectedSeq: seq, batch: batchOf(`b${seq}`, batch) };
    expect(await room.store.apply(write, T0)).toEqual({ ok: true, seq: seq + 1 });
    seq += 1;
  };
  const bookingAt = (n: number) => {
    const start = T0 + (n + 1) * HOUR;
    const window = { state: "scheduled", start, end: start + HOUR } as const;
    return bookingOf(`${n}`, node, { poolId: pool.id, units: [0], ...window });
  };
  const first = bookingAt(0);
  await write({ changes: [created(first)] });
  for (let version = 2; version < TIMES_PLANNED; version += 1)
    await write({ changes: [changed(first, { version })] });
  await write({ changes: Array.from({ length: LATER }, (_, n) => created(bookingAt(n + 1))) });

  const before = await read();
  for (let version = 0; version < TIMES_PLANNED; version += 1)
    await write({ changes: [changed(first, { version: TIMES_PLANNED + version })] });
  // Each looks one up, and may meet its own earlier versions on the way.
  expect((await read()) - before).toBeLessThan(LATER / 2);
});
