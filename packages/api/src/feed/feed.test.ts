import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { freshId } from "@berth/domain";
import { randomBytes } from "node:crypto";
import { toApiError } from "../errors.ts";
import { encodeEventCursor, epochOf } from "../groups/events/cursor.ts";
import { type TestApi, testApi } from "../testing/test-api.ts";
import { type World, makeWorld } from "../testing/world.ts";
import { STREAMS_A_PRINCIPAL } from "./feed.ts";
import type { Step } from "./watcher.ts";
import { WAITING_MAX } from "./watcher.ts";

const WAIT = { timeout: 30_000, interval: 20 };
let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
  await it.database.feedCaughtUp();
});
afterAll(() => it.close());

const open = new Set<Reading>();
afterEach(async () => {
  for (const reading of open) await reading.leave();
  open.clear();
});

/** A stream that is being read to its end. */
interface Reading {
  /** In the order in which they came. */
  readonly ids: string[];
  readonly types: string[];
  readonly reservations: unknown[];
  lastCursor: string | undefined;
  hungUp: boolean;
  /** Resolves with what it ended with; null when its reader left. */
  readonly ended: Promise<unknown>;
  leave(): Promise<void>;
}

type Pair = readonly [cursor: string, event: Step["event"]];

async function begin(
  input: object,
  token: string | null = it.admin,
  hangUp?: () => void,
): Promise<AsyncIterableIterator<Pair>> {
  const context = it.api.context({ token, requestId: "req-test" });
  const steps = await it.api.invoke({
    method: "reservations.watch",
    rawInput: () => Promise.resolve(input),
    context: { ...context, hangUp },
  });
  return steps as AsyncIterableIterator<Pair>;
}

async function read(input: object, token: string | null = it.admin): Promise<Reading> {
  const reading = { ids: [], types: [], reservations: [], hungUp: false } as unknown as Reading;
  const steps = await begin(input, token, () => (reading.hungUp = true));
  const run = async (): Promise<unknown> => {
    try {
      for await (const [cursor, event] of steps) {
        reading.lastCursor = cursor;
        if (!event) continue;
        reading.ids.push(event.id);
        reading.types.push(event.type);
        reading.reservations.push(event.data["reservationId"]);
      }
      return null;
    } catch (error) {
      return error;
    }
  };
  const whole = Object.assign(reading, {
    ended: run(),
    leave: async () => void (await steps.return?.()),
  });
  open.add(whole);
  // The first step says where it stands: whatever is written from now on is to come.
  await vi.waitFor(() => expect(reading.lastCursor).toBeDefined(), WAIT);
  return whole;
}

interface Page {
  readonly events: { id: string; cursor: string; type: string }[];
  readonly nextCursor: string | null;
}

async function listed(tenantId: string, more: object = {}): Promise<Page["events"]> {
  await it.database.feedCaughtUp();
  const events: Page["events"] = [];
  for (let after: string | null = null; ;) {
    const input = { tenantId, limit: 200, ...more, ...(after ? { after } : {}) };
    const page = (await it.invoke("events.list", input, it.admin)) as unknown as Page;
    events.push(...page.events);
    if (page.nextCursor === null) return events;
    after = page.nextCursor;
  }
}

const idsOf = (events: Page["events"]): string[] => events.map(({ id }) => id);

let written = 0;
/** One transaction with these many events of the tenant, held open for a while before it commits. */
async function write(tenantId: string, count: number, heldSeconds = 0): Promise<void> {
  await it.deps.db.slots.tx(async ({ q }) => {
    const at = Date.now();
    const rows = Array.from({ length: count }, (_, idx) => ({
      tenant_id: tenantId,
      event_id: freshId("evt", at, randomBytes(10)),
      reservation_id: null,
      idx,
      type: "tenant.put",
      at,
      data: { tenantId, parentId: null, name: `n${(written += 1)}` },
    }));
    // A stream of its own, so that writers do not wait for each other.
    await q("select berth_emit_v1($1, $2::text::jsonb)", [
      `tenant:${tenantId}/${randomBytes(6).toString("hex")}`,
      JSON.stringify(rows),
    ]);
    if (heldSeconds > 0) await q("select pg_sleep($1)", [heldSeconds]);
  });
}

describe("a watcher", () => {
  test("that joins at any moment, from any cursor, has every event once and in order while many write", async () => {
    const tenants = ["busy-a", "busy-b"];
    for (const tenantId of tenants) await it.invoke("fleet.putTenant", { tenantId }, it.admin);
    // There is an event to begin after.
    await it.database.feedCaughtUp();
    const readings: { reading: Reading; tenantId: string; after: string }[] = [];
    const writing = Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; n < 60; n += 1)
        await write(tenants[n % 2] ?? "", 1 + (n % 3), n % 9 === writer ? 0.03 : 0);
    });
    const joining = async (): Promise<void> => {
      for (let n = 0; n < 24; n += 1) {
        const tenantId = tenants[n % 2] ?? "";
        // The middle of what it would have to be told: some pages behind, or none.
        const known = await it.invoke("events.list", { tenantId, limit: 200 }, it.admin);
        const { events } = known as unknown as Page;
        const after = events.at((n * 7) % events.length)?.cursor ?? "";
        const reading = await read({ tenantId, lastEventId: after });
        readings.push({ reading, tenantId, after });
      }
    };
    await Promise.all([...writing, joining()]);
    expect(readings).toHaveLength(24);
    for (const { reading, tenantId, after } of readings) {
      const expected = idsOf(await listed(tenantId, { after }));
      await vi.waitFor(
        () => expect(reading.ids.length).toBeGreaterThanOrEqual(expected.length),
        WAIT,
      );
      expect(reading.ids).toEqual(expected);
    }
    expect(written).toBeGreaterThan(700);
  });

  test("that is told of more at once than a look takes has each once and in order", async () => {
    const { tenantId } = world;
    const reading = await read({ tenantId });
    await write(tenantId, 2_500);
    const all = idsOf(await listed(tenantId)).slice(-2_500);
    await vi.waitFor(() => expect(reading.ids.at(-1)).toBe(all.at(-1)), WAIT);
    expect(reading.ids).toEqual(all);
  });

  test("without a cursor is told of what is to come, and resumes after a break before the first event", async () => {
    const tenantId = world.tenantId;
    const before = idsOf(await listed(tenantId));
    const first = await read({ tenantId });
    const start = first.lastCursor;
    await first.leave();
    await write(tenantId, 2);
    const second = await read({ tenantId, lastEventId: start });
    const all = idsOf(await listed(tenantId));
    await vi.waitFor(() => expect(second.ids).toEqual(all.slice(before.length)), WAIT);
    expect(first.ids).toEqual([]);
  });

  test("of a pool or a reservation is told of nothing else", async () => {
    const { tenantId, poolId, reservationId } = world;
    const ofPool = await read({ tenantId, poolId });
    const ofReservation = await read({ tenantId, reservationId });
    const ofSpare = await read({ tenantId, poolId: world.sparePoolId });
    await write(tenantId, 1);
    await it.invoke("reservations.renew", { tenantId, reservationId }, it.admin);
    const gpuModel = `M${written}`;
    await it.invoke("pools.update", { tenantId, poolId, gpuModel }, it.admin);
    await vi.waitFor(
      () => expect(ofPool.types).toEqual(["reservation.renewed", "pool.updated"]),
      WAIT,
    );
    expect(ofReservation.types).toEqual(["reservation.renewed"]);
    expect(ofReservation.reservations).toEqual([reservationId]);
    expect(ofSpare.types).toEqual([]);
  });

  test("never sees another tenant's event, whatever cursor it brings", async () => {
    const { tenantId, strangerTenantId } = world;
    const theirs = (await listed(tenantId)).at(0)?.cursor;
    const token = world.tokens.stranger;
    const stranger = await read({ tenantId: strangerTenantId, lastEventId: theirs }, token);
    const seen = stranger.ids.length;
    await write(tenantId, 3);
    await write(strangerTenantId, 1);
    await vi.waitFor(() => expect(stranger.ids.length).toBeGreaterThan(seen), WAIT);
    const own = new Set(idsOf(await listed(strangerTenantId)));
    expect(stranger.ids.filter((id) => !own.has(id))).toEqual([]);
    const refused = await begin({ tenantId }, token).catch(toApiError);
    expect(refused).toMatchObject({ code: "NOT_FOUND" });
  });

  test("with a key that is narrowed to pools is told of those pools only", async () => {
    const { tenantId, poolId, sparePoolId } = world;
    const made = await it.invoke(
      "access.createKey",
      { tenantId, role: "tenant-viewer", name: "narrow", scope: { poolIds: [sparePoolId] } },
      it.admin,
    );
    const narrow = await read({ tenantId }, String(made["secret"]));
    const gpuModel = `N${written}`;
    await it.invoke("pools.update", { tenantId, poolId, gpuModel }, it.admin);
    await it.invoke("pools.update", { tenantId, poolId: sparePoolId, gpuModel }, it.admin);
    await vi.waitFor(() => expect(narrow.types).toEqual(["pool.updated"]), WAIT);
    const outside = await begin({ tenantId, poolId }, String(made["secret"])).catch(toApiError);
    expect(outside).toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a stream ends", () => {
  test("when its key is revoked, on every server, within 5 s, with the reason", async () => {
    const { tenantId } = world;
    const made = await it.invoke(
      "access.createKey",
      { tenantId, role: "tenant-viewer", name: "short" },
      it.admin,
    );
    const reading = await read({ tenantId }, String(made["secret"]));
    // Beside the API, as another server would: this process's cache of keys does not hear of it.
    const { id } = made["key"] as { id: string };
    const started = performance.now();
    await it.database.sql`update api_keys set revoked_at = berth.now_ms() where id = ${id}`;
    expect(toApiError(await reading.ended)).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(performance.now() - started).toBeLessThan(5_500);
  });

  test("when its reader takes nothing for a while, and not because more waits than is kept", async () => {
    const tenantId = "slow-one";
    await it.invoke("fleet.putTenant", { tenantId }, it.admin);
    const all = await listed(tenantId);
    let hungUp = false;
    const steps = await begin({ tenantId, lastEventId: all.at(-1)?.cursor }, it.admin, () => {
      hungUp = true;
    });
    const [cursor] = (await steps.next()).value as Pair;
    // Asked for and answered once: from here on the hub has it, and it reads no more.
    const pending = steps.next();
    await write(tenantId, 1);
    await pending;
    for (let n = 0; n < WAITING_MAX / 250 + 1; n += 1) await write(tenantId, 250);
    const expected = idsOf(await listed(tenantId, { after: cursor }));
    expect(expected.length).toBeGreaterThan(WAITING_MAX);
    const seen = [];
    while (seen.length < expected.length - 1)
      seen.push(((await steps.next()).value as Pair)[1]?.id);
    expect(seen).toEqual(expected.slice(1));
    const ended = it.api.feed.figures().ended.slow;
    expect(hungUp).toBe(false);
    await vi.waitFor(() => expect(hungUp).toBe(true), WAIT);
    await expect(steps.next()).rejects.toMatchObject({ name: "AbortError" });
    expect(it.api.feed.figures().ended.slow).toBe(ended + 1);
  });

  test("when the server drains, without a word, so that its reader comes back", async () => {
    const other = await testApi();
    try {
      await other.invoke("fleet.putTenant", { tenantId: "t-a" }, other.admin);
      const steps = (await other.api.invoke({
        method: "reservations.watch",
        rawInput: () => Promise.resolve({ tenantId: "t-a" }),
        context: other.api.context({ token: other.admin, requestId: "req-test" }),
      })) as AsyncIterableIterator<Pair>;
      await steps.next();
      const pending = steps.next();
      other.api.feed.drain();
      await expect(pending).rejects.toMatchObject({ name: "AbortError" });
      expect(
        await other.outcome("reservations.watch", { tenantId: "t-a" }, other.admin),
      ).toMatchObject({ code: "UNAVAILABLE" });
      expect(other.api.feed.figures()).toMatchObject({ streams: 0, ended: { stopping: 1 } });
    } finally {
      await other.close();
    }
  });
});

describe("a stream is refused", () => {
  test("with a cursor of another database, past retention, or none", async () => {
    const { tenantId } = world;
    const code = async (lastEventId: string) =>
      (await it.outcome("reservations.watch", { tenantId, lastEventId }, it.admin)).code;
    expect(await code(encodeEventCursor("0123456789abcdef", { xid: "5", id: 1 }))).toBe(
      "CURSOR_EXPIRED",
    );
    const epoch = await epochOf(it.deps.db);
    expect(await code(encodeEventCursor(epoch, { xid: "999999999999", id: 1 }))).toBe(
      "CURSOR_EXPIRED",
    );
    expect(await code("nonsense")).toBe("INVALID_INPUT");
  });

  test("when one caller has too many, and not once one is closed", async () => {
    const { tenantId } = world;
    const token = world.tokens.operator;
    const before = it.api.feed.figures().streams;
    const streams = await Promise.all(
      Array.from({ length: STREAMS_A_PRINCIPAL }, () => begin({ tenantId }, token)),
    );
    expect(it.api.feed.figures().streams).toBe(before + STREAMS_A_PRINCIPAL);
    const refused = await begin({ tenantId }, token).catch(toApiError);
    expect(refused).toMatchObject({ code: "RATE_LIMITED" });
    await streams[0]?.return?.();
    const again = await begin({ tenantId }, token);
    for (const stream of [...streams, again]) await stream.return?.();
    expect(it.api.feed.figures().streams).toBe(before);
  });
});
