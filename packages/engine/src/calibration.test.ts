/**
 * The simulated database against the real one: the same lives, with the same writes lost, give the same
 * answers, numbers, rows and events. What the simulation shows of the engine holds only while this does.
 */
import { type GateBatch, type PoolStore, createPoolStore, openDatabase } from "@berth/db";
import {
  type Change,
  type PoolId,
  type Reservation,
  type UnitReservation,
  invariant,
} from "@berth/domain";
import { faultProxy, manualClock, seedTenants, testDatabase } from "@berth/db/testing";
import { type CreateStep, type Start, configAt, historyOf } from "@berth/domain/testing";
import { expect, test } from "vitest";
import { NOW } from "./testing/fixtures.ts";
import { type Fault, MemoryStore } from "./testing/memory-store.ts";
import { type Database, Side, canonical } from "./testing/simulation/sides.ts";

const SEEDS = Array.from({ length: Number(process.env["CALIBRATION_RUNS"] ?? 24) }, (_, n) => n);
const STEPS = 30;
/** A seed whose first pool has whole GPUs. */
const WHOLE_GPUS = 1;
const TENANTS = ["t-a", "t-b", "t-d", "t-own", "t-x"];
const SITE_ID = "site_00000000000000000000000000";

function inMemory(): Database {
  const store = new MemoryStore(NOW);
  let next: Fault = "none";
  let lost = 0;
  store.fault = () => {
    const fault = next;
    next = "none";
    if (fault !== "none") lost += 1;
    return fault;
  };
  return {
    store,
    turnClock: async (ms) => store.turnClock(ms),
    acceptClock: async () => store.acceptClock(),
    lose: (way) => (next = way === "before" ? "lost-before" : "lost-after"),
    get lost() {
      return lost;
    },
    events: async (gateId) =>
      (store.gates.get(gateId)?.events ?? []).flatMap(({ seq, idx, event }) =>
        event.views.map(({ tenantId, data }) => ({
          seq,
          idx,
          id: event.id,
          type: event.type,
          at: event.at,
          reservationId: event.reservationId,
          tenantId,
          data,
        })),
      ),
  };
}

interface Real extends Database {
  close(): Promise<void>;
}

async function onPostgres(): Promise<Real> {
  const database = await testDatabase();
  const clock = await manualClock(database.url, NOW);
  const proxy = await faultProxy(database.url, () => 0);
  const db = openDatabase(proxy.url, { connections: 2, writers: 2 });
  await seedTenants(db, TENANTS);
  await db.slots.run(
    `insert into sites (id, tenant_id, name, kind, region, created_at)
     values ($1, 't-own', 'site', 'custom', 'eu', 0)`,
    [SITE_ID],
  );
  return {
    store: createPoolStore(db),
    turnClock: (ms) => clock.advance(ms),
    acceptClock: async () => void (await database.sql`select berth_accept_clock_v1()`),
    lose: (at) => proxy.set({ kind: "cut", on: /berth_apply_v1/, at, times: 1 }),
    get lost() {
      return proxy.counts.before + proxy.counts.after;
    },
    async events(gateId) {
      const rows = await database.sql<object[]>`
        select seq, idx, event_id as id, type, at, reservation_id as "reservationId",
          tenant_id as "tenantId", data
        from events where stream = ${gateId}`;
      return rows.map((row) => ({ ...row }));
    },
    async close() {
      await db.close();
      await proxy.close();
      await clock.close();
      await database.close();
    },
  };
}

test.each(SEEDS)("seed %i: both databases answer and store the same", async (seed) => {
  const { start, steps } = historyOf(seed, STEPS);
  const memory = inMemory();
  const real = await onPostgres();
  try {
    const [a, b] = [new Side(start, memory), new Side(start, real)];
    expect(await a.open()).toEqual(await b.open());
    for (const [n, step] of steps.entries()) {
      const place = `step ${n}: ${JSON.stringify(step)}`;
      const [simulated, stored] = [await a.take(step, n), await b.take(step, n)];
      expect(simulated, place).toEqual(stored);
    }
    expect(await a.books()).toEqual(await b.books());
    expect(memory.lost).toBeGreaterThan(0);
    expect(memory.lost).toBe(real.lost);
  } finally {
    await real.close();
  }
});

const ONE_GPU: CreateStep = {
  do: "create",
  pool: 0,
  tenant: "t-a",
  form: "hold",
  count: 1,
  size: 2,
  exactly: null,
  nvlink: false,
  vfs: 0,
  vcpu: 0,
  spot: false,
  ahead: 1,
  lasts: 5,
  leaseSeconds: null,
  waits: 0,
  server: "s1",
};

/** What each write that no planner should make is answered, one after the other. */
async function refusals(start: Start, database: Database): Promise<string[]> {
  const { store } = database;
  const [one, two] = [configAt(start, 0), configAt(start, 1)];
  const side = new Side(start, database);
  await side.open();
  // Its number draws no mishap.
  await side.take(ONE_GPU, 5);
  const loaded = await store.load(one.id);
  const [row] = loaded?.snapshot.reservations ?? [];
  const [node] = loaded?.snapshot.nodes ?? [];
  invariant(loaded && row && node, "there is a booking on a node");
  const told: string[] = [];
  const apply = async (
    what: Partial<GateBatch>,
    { gateId = one.id, behind = 0, by = 0 } = {},
  ): Promise<void> => {
    const seq = (await store.head(gateId))?.seq ?? 0;
    const batch = { ...EMPTY, id: `batch ${told.length}`, ...what };
    const answer = store.apply({ gateId, expectedSeq: seq - by, batch }, NOW - behind);
    told.push(
      await answer.then(canonical, (error: unknown) => canonical(store.failureOf(error))),
      canonical(await store.head(gateId)),
    );
  };
  const made = (after: Reservation): Change => ({ kind: "reservation", before: null, after });
  const other = { ...row, id: `rsv_${"9".repeat(26)}` } as const;
  const claim = { tenantId: "t-a", principal: "ci", key: "k1", requestHash: "h" };
  const fence = fenceOf(row, node.id);
  await apply({}, { by: 1 });
  await apply({}, { behind: 1_001 });
  await apply({ changes: [made(other)] });
  await apply({ changes: [made({ ...other, ...elsewhereOf(other) })] });
  await apply({ changes: [{ kind: "reservation", before: other, after: other }] });
  await apply({ keys: [{ ...claim, reservationId: other.id }] });
  await apply({ changes: [{ kind: "config", before: null, after: one }] });
  await apply({ changes: [{ kind: "node", before: null, after: node }] }, { gateId: two.id });
  const namesake = { ...node, id: `node_${"9".repeat(26)}`, units: [], gpus: [] } as const;
  await apply({ changes: [{ kind: "node", before: null, after: namesake }] }, { gateId: two.id });
  await apply({ changes: [{ kind: "unitReservation", before: null, after: fence }] });
  const second = { ...fence, id: `ursv_${"9".repeat(26)}` } as const;
  await apply({ changes: [{ kind: "unitReservation", before: null, after: second }] });
  await apply({ changes: [{ kind: "unitReservation", before: fence, after: null }] });
  await lookedFor(store, one.id, told);
  return told;
}

/** Asked for, a batch has its number, or its number is used up. */
async function lookedFor(store: PoolStore, gateId: PoolId, told: string[]): Promise<void> {
  for (const batchId of ["batch 0", "batch 18", "never sent"])
    told.push(canonical(await store.outcome(gateId, batchId)), canonical(await store.head(gateId)));
}

const EMPTY: Omit<GateBatch, "id"> = {
  keys: [],
  changes: [],
  quotaUsed: [],
  rollup: [],
  events: [],
  nextDueAt: null,
};

/** A unit that is on no node. */
function elsewhereOf({ members }: Reservation): Pick<Reservation, "members"> {
  return { members: members.map((m) => ({ ...m, unitIds: [`unit_${"9".repeat(26)}`] })) };
}

function fenceOf(
  { start, end, members }: Reservation,
  nodeId: UnitReservation["nodeId"],
): UnitReservation {
  return {
    id: `ursv_${"8".repeat(26)}`,
    nodeId,
    status: "active",
    allowedOrgIds: ["platform"],
    managingOrgIds: [],
    unitIds: members.flatMap(({ unitIds }) => unitIds),
    releasedUnitIds: [],
    startsAt: start,
    endsAt: end,
    endedAt: null,
    topologyGen: 1,
    reason: null,
    contractRef: null,
    createdBy: "platform/ops",
    createdAt: NOW,
    updatedAt: NOW,
  };
}

test("both databases refuse the same, for the same reason, and count on from the same number", async () => {
  const real = await onPostgres();
  try {
    const { start } = historyOf(WHOLE_GPUS, 1);
    const simulated = await refusals(start, inMemory());
    expect(simulated).toEqual(await refusals(start, real));
    expect(simulated.filter((answer) => answer.includes("23P01"))).toHaveLength(1);
  } finally {
    await real.close();
  }
});
