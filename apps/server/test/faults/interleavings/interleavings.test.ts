/**
 * Every pair of operations on one pool, the first held up at a point while the second runs on another server:
 * what both answer and what is left is what one of the two orders comes to.
 */
import type { FailpointName } from "@berth/db";
import { type ManualClock, type TestDatabase, manualClock, testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, startServer } from "../../harness.ts";
import { LATER_MS, OPERATIONS, type Operation, bookTheOne } from "./operations.ts";
import {
  GUEST,
  type Hand,
  type Latch,
  OWNER,
  type Outcome,
  type Plot,
  anonymous,
  done,
  latch,
  makePlot,
  openHand,
  stateOf,
  surveyed,
} from "./world.ts";

const POINTS = [
  "place.done",
  "apply.before",
  "reply.before",
] as const satisfies readonly FailpointName[];
/** Pairs at work at the same time, each on servers and a pool of its own. */
const LANES = 4;

/** As often is a cell played again that was late. */
const TIMES = 3;

interface Cell {
  readonly a: Operation;
  readonly b: Operation;
  /** Null: one after the other. */
  readonly at: FailpointName | null;
}

interface Lane {
  readonly left: Hand;
  readonly right: Hand;
  readonly latch: Latch;
}

interface Played {
  readonly cell: Cell;
  readonly held: boolean;
  /** Both answers, and the rows. */
  readonly came: string;
  /** The same with the second's answer first. */
  readonly swapped: string;
}

test("whichever two meet on a pool, it is as if one had come after the other", async () => {
  const started = performance.now();
  const database = await testDatabase();
  const server = await startServer({ database });
  await server.stopServing();
  const clock = await manualClock(database.url);
  const lanes = Array.from({ length: LANES }, () => openLane(database));
  try {
    const siteId = await makeGround(lanes[0]?.left);
    const cells = OPERATIONS.flatMap((a) =>
      OPERATIONS.flatMap((b) => [null, ...POINTS].map((at): Cell => ({ a, b, at }))),
    ).filter(wanted);
    const played: Played[] = [];
    // A row at a time, so that what falls due later does so for one row only.
    const ground = { database, clock, lanes, siteId };
    for (const row of rowsOf(cells)) played.push(...(await playInTime(row, ground)));
    const orders = new Map(
      played
        .filter(({ cell }) => cell.at === null)
        .map((each) => [pairOf(each.cell.a, each.cell.b), each]),
    );
    const interleaved = played.filter(({ cell }) => cell.at !== null);
    const odd = interleaved.flatMap((each) => oddityOf(each, orders));
    expect(odd).toEqual([]);
    await expectHealthy(database.url);
    const held = interleaved.filter((each) => each.held).length;
    expect(held).toBeGreaterThan(interleaved.length / 2);
    process.stdout.write(
      `interleavings: ${interleaved.length} cells of ${OPERATIONS.length} operations, in ${held} the first was held up, all as one order, doctor clean, ${((performance.now() - started) / 1_000).toFixed(1)} s\n`,
    );
  } finally {
    for (const { left, right } of lanes) await Promise.all([left.close(), right.close()]);
    await clock.close();
    await database.close();
  }
}, 1_800_000);

/** What came of a cell, when neither order comes to the same: the lines in which it differs from the nearer one. */
function oddityOf(
  { cell: { a, b, at }, came }: Played,
  orders: ReadonlyMap<string, Played>,
): string[] {
  const lines = came.split("\n");
  const ways = [orders.get(pairOf(a, b))?.came, orders.get(pairOf(b, a))?.swapped].map(
    (way = "") => {
      const expected = way.split("\n");
      return [
        ...lines.filter((line) => !expected.includes(line)).map((line) => `+ ${line}`),
        ...expected.filter((line) => !lines.includes(line)).map((line) => `- ${line}`),
      ];
    },
  );
  if (ways.some((way) => way.length === 0)) return [];
  const [nearer = []] = ways.toSorted((x, y) => x.length - y.length);
  return [`${a.name} held up at ${at} while ${b.name}:`, ...nearer];
}

interface Ground {
  readonly database: TestDatabase;
  readonly clock: ManualClock;
  readonly lanes: readonly Lane[];
  readonly siteId: string;
  readonly madeAt: number;
}

function openLane(database: TestDatabase): Lane {
  const own = latch();
  return { left: openHand(database, own.failpoint), right: openHand(database), latch: own };
}

/** One site for all of them. */
async function makeGround(hand: Hand | undefined): Promise<string> {
  if (!hand) throw new Error("there is a lane");
  for (const tenantId of [OWNER, GUEST]) await done(hand.call("fleet.putTenant", { tenantId }));
  const site = { tenantId: OWNER, name: "site", region: "test" };
  return String((await done(hand.call("fleet.putSite", site)))["id"]);
}

/**
 * In CI every pair at the point before the write; INTERLEAVINGS=all all points, INTERLEAVINGS=create,release all
 * points of those in which both are named.
 */
function wanted({ a, b, at }: Cell): boolean {
  const names = process.env["INTERLEAVINGS"];
  if (names === "all") return true;
  if (names === undefined) return at === null || at === "apply.before";
  const named = names.split(",");
  return named.includes(a.name) && named.includes(b.name);
}

function rowsOf(cells: readonly Cell[]): Cell[][] {
  const names = [...new Set(cells.map(({ a }) => a.name))];
  return names.map((name) => cells.filter(({ a }) => a.name === name));
}

const pairOf = (first: Operation, second: Operation): string => `${first.name}, ${second.name}`;

let plots = 0;

/** A call that was late, on a machine that is, is no answer: its cell is played again. */
async function playInTime(
  cells: readonly Cell[],
  ground: Omit<Ground, "madeAt">,
): Promise<Played[]> {
  const played: Played[] = [];
  let left = cells;
  for (let time = 0; left.length > 0; time += 1) {
    const row = await playRow(left, ground);
    const late = row.filter(({ came }) => time < TIMES && came.includes('"UNAVAILABLE"'));
    played.push(...row.filter((each) => !late.includes(each)));
    left = late.map(({ cell }) => cell);
  }
  return played;
}

async function playRow(cells: readonly Cell[], on: Omit<Ground, "madeAt">): Promise<Played[]> {
  const { database, clock } = on;
  const ground = { ...on, madeAt: await clock.now() };
  await nobodyIsAway(database);
  const ready = await inLanes(cells, ground, async (cell, lane) => ({
    cell,
    plot: await prepare(cell, lane.left, ground),
  }));
  await clock.advance(LATER_MS);
  await nobodyIsAway(database);
  return inLanes(ready, ground, ({ cell, plot }, lane) => play(cell, { plot, lane, database }));
}

/** No server beats here, so the next outage is put off for as long as anybody can wait. */
async function nobodyIsAway({ sql }: TestDatabase): Promise<void> {
  await sql`update clock set beat_at = (extract(epoch from clock_timestamp()) * 1000)::int8 + 3600000`;
}

async function prepare({ a, b }: Cell, hand: Hand, ground: Ground): Promise<Plot> {
  const name = `c${(plots += 1)}`;
  const plot = await surveyed(
    ground.database,
    await makePlot(hand, { siteId: ground.siteId, name, madeAt: ground.madeAt }),
  );
  const both = new Set([a, b]);
  for (const operation of both) await operation.prepare?.(hand, plot);
  for (const operation of both) await operation.book?.(hand, plot);
  await bookTheOne(hand, plot, [a.name, b.name]);
  return plot;
}

async function play(
  { a, b, at }: Cell,
  { plot, lane, database }: { plot: Plot; lane: Lane; database: TestDatabase },
): Promise<Played> {
  const { left, right } = lane;
  const armed = at === null ? null : lane.latch.arm(at);
  const first = a.run(left, plot, "a");
  const held = armed
    ? await Promise.race([armed.reached.then(() => true), first.then(() => false)])
    : false;
  if (!held) await first;
  const second = await b.run(right, plot, "b");
  armed?.open();
  const outcomes: readonly Outcome[] = [await first, second];
  await right.settle(plot.poolId);
  const state = await stateOf(database, plot);
  const told = (those: readonly Outcome[]) => `${anonymous(plot, those)}\n${state}`;
  const [came, swapped] = [told(outcomes), told(outcomes.toReversed())];
  return { cell: { a, b, at }, held, came, swapped };
}

/** Each lane takes the next one as soon as it is free. */
async function inLanes<T, R>(
  items: readonly T[],
  { lanes }: Ground,
  work: (item: T, lane: Lane) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      for (let at = next++; at < items.length; at = next++) {
        const item = items[at];
        if (item !== undefined) results.push(await work(item, lane));
      }
    }),
  );
  return results;
}
