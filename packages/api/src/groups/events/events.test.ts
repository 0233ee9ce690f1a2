import { createPoolStore } from "@berth/db";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type TestApi, testApi } from "../../testing/test-api.ts";
import { type World, makeWorld } from "../../testing/world.ts";
import { encodeEventCursor, epochOf } from "./cursor.ts";
import { readFeed } from "./feed.ts";
import { pruneEvents } from "./prune.ts";

const WAIT = { timeout: 20_000 };
let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
  await caughtUp();
});
afterAll(() => it.close());

/** The feed shows nothing above a transaction that is open anywhere in the cluster: other tests' too. */
async function caughtUp(): Promise<void> {
  const written = async () =>
    (await it.database.sql`select from events where tenant_id = ${world.tenantId}`).length;
  const total = await written();
  await vi.waitFor(async () => expect((await list()).events).toHaveLength(total), WAIT);
}

interface Page {
  readonly events: {
    id: string;
    cursor: string;
    type: string;
    poolId: string | null;
    seq: number | null;
  }[];
  readonly nextCursor: string | null;
}

const list = async (more: object = {}, token = it.admin) =>
  (await it.invoke(
    "events.list",
    { tenantId: world.tenantId, limit: 200, ...more },
    token,
  )) as unknown as Page;
const refusal = async (more: object) =>
  (await it.outcome("events.list", { tenantId: world.tenantId, ...more }, it.admin)).error;

const touch = () =>
  it.invoke(
    "pools.update",
    { ...pool(), gpuModel: `M${Math.random()}`.slice(0, 9).replace(".", "") },
    it.admin,
  );
const pool = () => ({ tenantId: world.tenantId, poolId: world.poolId });

describe("the feed", () => {
  test("is in order, whole and without repeats when each call goes on after the last cursor", async () => {
    const all = await list();
    const seen: string[] = [];
    for (let after: string | undefined; ;) {
      const page: Page = await list({ limit: 2, ...(after ? { after } : {}) });
      seen.push(...page.events.map(({ id }) => id));
      if (page.nextCursor === null) break;
      after = page.nextCursor;
    }
    expect(seen).toEqual(all.events.map(({ id }) => id));
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("keeps the order of a pool", async () => {
    const { events } = await list({ poolId: world.poolId });
    const seqs = events.map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(events.every(({ poolId }) => poolId === world.poolId)).toBe(true);
  });

  test("does not skip a transaction that is held open while later ones commit", async () => {
    await caughtUp();
    const last = (await list()).events.at(-1)?.cursor;
    const release = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const slow = it.deps.db.slots.tx(async ({ q }) => {
      await q("select berth_emit_v1($1, $2::text::jsonb)", [
        `tenant:${world.tenantId}`,
        JSON.stringify([
          {
            tenant_id: world.tenantId,
            event_id: "evt_00000000000000000000000000",
            reservation_id: null,
            idx: 0,
            type: "tenant.put",
            at: Date.now(),
            data: {},
          },
        ]),
      ]);
      opened.resolve();
      await release.promise;
    });
    await opened.promise;
    await touch();
    const during = await list({ after: last });
    release.resolve();
    await slow;
    const types = async (after: string | undefined) =>
      (await list({ after })).events.map(({ type }) => type);
    expect(during.events).toEqual([]);
    await expect.poll(() => types(last), WAIT).toEqual(["tenant.put", "pool.updated"]);
  });

  test("is in the order of transactions also where their numbers gain a digit", async () => {
    const tenantId = "digits";
    for (const [n, xid] of ["9", "99", "100", "10"].entries())
      await it.database.sql`
        insert into events (xid, tenant_id, event_id, stream, seq, idx, type, at, data)
        values (${xid}::text::xid8, ${tenantId}, ${`evt_${xid}`}, 'digits', ${n}, 0, 'tenant.put', ${Date.now()}, '{}')`;
    const { events } = await readFeed(it.deps.db, { tenantId, limit: 10 }, null);
    expect(events.map(({ id }) => id)).toEqual(["evt_9", "evt_10", "evt_99", "evt_100"]);
    const after = await readFeed(it.deps.db, { tenantId, limit: 2 }, { xid: "10", id: 999_999 });
    expect(after.events.map(({ id }) => id)).toEqual(["evt_99", "evt_100"]);
  });

  test("is filtered by reservation", async () => {
    const { events } = await list({ reservationId: world.reservationId });
    expect(events.map(({ type }) => type)).toEqual(["reservation.created"]);
  });

  test("shows another tenant nothing of it", async () => {
    const input = { tenantId: world.strangerTenantId, limit: 200 };
    const { events } = (await it.invoke(
      "events.list",
      input,
      world.tokens.stranger,
    )) as unknown as Page;
    expect(events.map(({ type }) => type)).toEqual(["tenant.put", "key.created"]);
    const text = JSON.stringify(events);
    for (const id of [world.tenantId, world.poolId, world.nodeId]) expect(text).not.toContain(id);
  });
});

describe("a cursor", () => {
  const expired = { code: "CURSOR_EXPIRED" };

  test("of another database is expired", async () => {
    const after = encodeEventCursor("0123456789abcdef", { xid: "5", id: 1 });
    expect(await refusal({ after })).toMatchObject(expired);
  });

  test("ahead of the database, as after a restore to an earlier point, is expired", async () => {
    const after = encodeEventCursor(await epochOf(it.deps.db), { xid: "999999999999", id: 1 });
    expect(await refusal({ after })).toMatchObject(expired);
  });

  test("that is none is INVALID_INPUT", async () => {
    for (const after of ["x", Buffer.from("a.b.c").toString("base64url")])
      expect(await refusal({ after })).toMatchObject({
        code: "INVALID_INPUT",
        issues: [{ path: ["after"] }],
      });
  });

  test("past retention is expired; one after it still goes on", async () => {
    await caughtUp();
    const before = (await list({ limit: 1 })).events[0]?.cursor;
    const now = await createPoolStore(it.deps.db).now();
    await it.database.sql`
      update events set at = ${now - 31 * 86_400_000} where id in (
        select id from events where tenant_id = ${world.tenantId} order by xid, id limit 3)`;
    expect(await pruneEvents(it.deps.db)).toBe(3);
    expect(await refusal({ after: before })).toMatchObject(expired);
    const kept = await list();
    const [first, ...rest] = kept.events;
    expect((await list({ after: first?.cursor })).events).toEqual(rest);
    const stranger = { tenantId: world.strangerTenantId, limit: 1 };
    const { nextCursor } = await it.invoke("events.list", stranger, it.admin);
    const quiet = await it.outcome("events.list", { ...stranger, after: nextCursor }, it.admin);
    expect(quiet.code).toBe("OK");
    expect(await pruneEvents(it.deps.db)).toBe(0);
  });
});

describe("forgetting", () => {
  const DAYS_31 = 31 * 86_400_000;
  /** Events of nobody else's tenant, by id behind everything there is. */
  const insert = (tenantId: string, count: number, at: number) => it.database.sql`
    insert into events (tenant_id, event_id, stream, seq, idx, type, at, data)
    select ${tenantId}, 'evt_' || n, ${tenantId}, n, 0, 'tenant.changed', ${at}, '{}'
    from generate_series(1, ${count}::int) n`;

  /** Another file's open transaction holds the horizon back for a moment. */
  const pruned = async (count: number) => {
    let total = 0;
    await vi.waitFor(async () => {
      total += await pruneEvents(it.deps.db);
      expect(total).toBe(count);
    }, WAIT);
  };

  test("goes on until nothing old is left, and looks no further than the oldest rows", async () => {
    const now = await createPoolStore(it.deps.db).now();
    await it.database.sql`delete from events`;
    await insert("old", 12_000, now - DAYS_31);
    await pruned(12_000);
    await insert("young", 5_000, now);
    await insert("old", 1, now - DAYS_31);
    await caughtUpBehind();
    expect(await pruneEvents(it.deps.db)).toBe(0);
    await it.database.sql`update events set at = ${now - DAYS_31} where tenant_id = 'young'`;
    await pruned(5_001);
  });

  /** Resolves when the horizon is above every event. */
  async function caughtUpBehind(): Promise<void> {
    await vi.waitFor(async () => {
      const above = await it.database.sql`
        select 1 from events where xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
      expect(above).toHaveLength(0);
    }, WAIT);
  }
});
