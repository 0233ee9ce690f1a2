/** Callers who wait on a second server of the same database, which has four connections. */
import { randomBytes } from "node:crypto";
import { type Database, createPoolStore, openDatabase } from "@berth/db";
import { waitFor } from "@berth/db/testing";
import { type PoolId, type Waiter, NO_SCALARS, createOrWait, invariant } from "@berth/domain";
import { type Engine, createEngine } from "@berth/engine";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { BookingApi, HOUR } from "../test-kit.ts";

const NAME = "second";
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let api: BookingApi;
let database: Database;
let second: Engine;
beforeAll(async () => {
  api = await BookingApi.open();
  api.test.deps.engine.start();
});
afterAll(() => api.close());
beforeEach(() => {
  const { url } = api.test.database;
  database = openDatabase(url, { connections: 2, writers: 2, applicationName: NAME });
  second = createEngine({
    store: createPoolStore(database),
    random: randomBytes,
    log: quiet,
    elapsed: () => performance.now(),
  });
  second.start();
});
afterEach(async () => {
  await second.stop();
  await database.close();
});

interface Waiting {
  readonly waiter: Waiter;
  readonly became: Promise<string>;
}

/** Waits on the second server for so many GPUs. */
async function waiting(poolId: string, gpus: number, signal?: AbortSignal): Promise<Waiting> {
  const { value, seq } = await second.submit(poolId as PoolId, {
    name: "create",
    tenantId: "t-b",
    plan: (turn) =>
      createOrWait(
        turn,
        {
          tenantId: "t-b",
          ancestors: [],
          projectId: null,
          leaseSeconds: null,
          createdBy: "ci",
          shape: {
            binding: "hold",
            gang: null,
            node: null,
            spot: false,
            devices: [{ class: "gpu", count: gpus }],
            topology: "any",
            resources: NO_SCALARS,
            start: null,
            durationMs: HOUR,
          },
        },
        { timeoutMs: 30_000, serverId: second.serverId, key: null },
      ),
  });
  invariant(value.ok && value.value.kind === "waits", "there is no room");
  const { waiter } = value.value;
  const became = second.wait({ waiter, since: seq }, signal);
  became.catch(() => undefined);
  return { waiter, became };
}

interface Session {
  readonly state: string;
  readonly locks: number;
}

/** What the second server's connections do at this moment, and the locks that they hold. */
async function sessions(): Promise<Session[]> {
  return api.test.database.sql<Session[]>`
    select a.state, (select count(*) from pg_locks l where l.pid = a.pid) as locks
    from pg_stat_activity a
    where a.datname = current_database() and a.application_name like ${`${NAME}%`}`;
}

it("a hundred who wait hold no connection and no lock: the server answers others as ever", async () => {
  const poolId = await api.pool(1, 2);
  await api.book(poolId, 1);
  const last = await api.book(poolId, 1);
  // Each is of a form of its own, so each is tried by itself.
  const line = await Promise.all(
    Array.from({ length: 100 }, (_, i) => waiting(poolId, 2 + (i % 63))),
  );
  expect(await api.inLine(poolId)).toBe(100);
  // Looks and beats come and go; what is asked is whether all connections are ever free, and none is kept.
  const looks = await Promise.all(Array.from({ length: 20 }, () => sessions()));
  expect(looks.flat().filter(({ state }) => state.startsWith("idle in"))).toEqual([]);
  await waitFor(
    async () => (await sessions()).every(({ state, locks }) => state === "idle" && locks === 0),
    "connections that do nothing and hold nothing",
  );
  expect((await sessions()).length).toBeLessThanOrEqual(4);
  const started = performance.now();
  const read = await second.read(poolId as PoolId, (state) => state.waiting.size);
  expect(read?.value).toBe(100);
  expect(performance.now() - started).toBeLessThan(1_000);

  const one = await waiting((await full()).poolId, 1);
  await api.release(last);
  expect(await api.inLine(poolId)).toBe(100);
  await second.endWaits();
  await Promise.allSettled([...line, one].map(({ became }) => became));
  expect(await api.inLine(poolId)).toBe(0);
});

async function full() {
  const poolId = await api.pool(1, 1);
  return { poolId, held: await api.book(poolId, 1) };
}

it("what the first server frees is theirs within a second, and before its own newcomer's", async () => {
  const { poolId, held } = await full();
  const waits = await waiting(poolId, 1);
  const released = performance.now();
  await api.release(held);
  expect((await api.outcome("reservations.create", api.wish(poolId, 1))).code).toBe("NO_CAPACITY");
  expect(await waits.became).toBe("served");
  expect(performance.now() - released).toBeLessThan(1_000);
  const { tenantId } = waits.waiter;
  const got = { tenantId, reservationId: waits.waiter.id };
  expect(await api.call("reservations.get", got)).toMatchObject({ state: "active" });
});

it("they go in order of arrival, whichever server they are on", async () => {
  const { poolId, held } = await full();
  const theirs = await waiting(poolId, 1);
  await api.clock.advance(5);
  const ours = await api.waiting(poolId, 1, { tenantId: "t-c" });
  await api.clock.advance(5);
  const last = await waiting(poolId, 1);
  await api.release(held);
  expect(await theirs.became).toBe("served");
  const release = (tenantId: string, reservationId: string) =>
    api.call("reservations.release", { tenantId, reservationId });
  await release("t-b", theirs.waiter.id);
  const { id } = (await ours.outcome).output as { id: string };
  await release("t-c", id);
  expect(await last.became).toBe("served");
});

it("whoever hangs up there is out of the line before anything is freed here", async () => {
  const { poolId, held } = await full();
  const hangUp = new AbortController();
  const gone = await waiting(poolId, 1, hangUp.signal);
  const next = await waiting(poolId, 1);
  hangUp.abort();
  await expect(gone.became).rejects.toThrow("went away");
  await waitFor(async () => (await api.inLine(poolId)) === 1, "one left in line");
  await api.release(held);
  expect(await next.became).toBe("served");
});

it("a server that dies is passed over once it has been silent for some seconds", async () => {
  const { poolId, held } = await full();
  const lost = await waiting(poolId, 1);
  // It dies: nobody takes its waiters away, and it beats no more.
  await database.close();
  const ours = await api.waiting(poolId, 1, { tenantId: "t-c" });
  await waitFor(async () => {
    const [row] = await api.test.database.sql<{ silent: boolean }[]>`
      select beat_at < extract(epoch from clock_timestamp()) * 1000 - 6000 as silent
      from servers where id = ${second.serverId}`;
    return row?.silent === true;
  }, "six seconds of silence");
  await api.clock.advance(6_000);
  await api.release(held);
  expect(await ours.outcome).toMatchObject({ code: "OK", output: { tenantId: "t-c" } });
  await api.clock.advance(30_000);
  await waitFor(async () => (await api.inLine(poolId)) === 0, "an empty line");
  const got = { tenantId: "t-b", reservationId: lost.waiter.id };
  expect((await api.outcome("reservations.get", got)).code).toBe("NOT_FOUND");
}, 60_000);
