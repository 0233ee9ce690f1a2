/** What one caller can pile up: streams, waits, keys, denials, the dearest questions; and who feels it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer();
  fleet = await server.fleet(pool(2, 8));
});
afterEach(() => server.expectHealthy());
afterAll(() => server.stop());

let asked = 0;
const booking = (tenantId: string, more: object = {}) => ({
  tenantId,
  poolId: fleet.poolId,
  idempotencyKey: `crowd-${(asked += 1)}`,
  devices: [{ class: "gpu", count: 1 }],
  duration: "1h",
  ...more,
});

describe("streams", () => {
  const open = (token: string, signal: AbortSignal, more: Record<string, string> = {}) =>
    fetch(`${server.url}/api/compute/events/stream?tenantId=t-a`, {
      headers: { authorization: `Bearer ${token}`, ...more },
      signal,
    });

  it("of one principal are at most 256; one more is RATE_LIMITED, another principal's is not", async () => {
    const token = await server.token("t-a", "tenant-viewer");
    const other = await server.token("t-a", "tenant-operator");
    const abort = new AbortController();
    const opened = await Promise.all(Array.from({ length: 256 }, () => open(token, abort.signal)));
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await open(token, abort.signal);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ code: "RATE_LIMITED" }),
    ]);
    expect((await open(other, abort.signal)).status).toBe(200);
    abort.abort();
    // The places are given back when the server has seen them go.
    const again = new AbortController();
    await expect
      .poll(async () => (await open(token, again.signal)).status, { timeout: 10_000 })
      .toBe(200);
    again.abort();
  });

  it.each([
    ["another's", () => cursorOf("t-own"), [200]],
    ["a made-up", () => Promise.resolve("AAAA.1.1"), [400]],
    ["a very long", () => Promise.resolve("A".repeat(8_000)), [400, 431]],
  ])(
    "resumed with %s cursor show nothing that is not the caller's",
    async (_whose, make, codes) => {
      const abort = new AbortController();
      const headers = { "last-event-id": await make() };
      const answer = await open(await server.token("t-a"), abort.signal, headers);
      expect(codes).toContain(answer.status);
      if (answer.status === 200) {
        const wanted = await server.admin.access.createKey({
          tenantId: "t-a",
          name: `after ${performance.now()}`,
          role: "tenant-viewer",
        });
        let text = "";
        for await (const chunk of answer.body ?? []) {
          text += Buffer.from(chunk).toString();
          if (text.includes(wanted.key.id)) break;
        }
        expect(text).not.toContain('"tenantId":"t-own"');
      }
      abort.abort();
    },
  );

  async function cursorOf(tenantId: string): Promise<string> {
    const { events } = await server.admin.events.list({ tenantId, limit: 1 });
    return events[0]?.cursor ?? "";
  }
});

/** A server that is told to do too much says when to come again, and crowds do. */
async function untilTaken(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await answer.arrayBuffer();
    await delay(Number(answer.headers.get("retry-after")) * 1_000);
  }
}

describe("waits", () => {
  it("of one tenant in a pool are at most a hundred, others' go on, and who hangs up books nothing", async () => {
    const { poolId } = await server.fleet(pool(1, 4));
    const full = await server.admin.reservations.create({
      ...booking("t-own"),
      poolId,
      devices: [{ class: "gpu", count: 4 }],
      duration: "1h",
    } as Parameters<typeof server.admin.reservations.create>[0]);
    const [crowd, other] = await Promise.all([server.token("t-a"), server.token("t-b")]);
    const abort = new AbortController();
    const wait = (tenantId: string, token: string, signal?: AbortSignal) =>
      untilTaken(() =>
        fetch(`${server.url}/api/compute/reservations/create`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ ...booking(tenantId), poolId, wait: { timeoutMs: 30_000 } }),
          ...(signal ? { signal } : {}),
        }),
      );
    const answers = Array.from({ length: 150 }, () =>
      wait("t-a", crowd, abort.signal).then(
        ({ status }) => status,
        () => "hung up" as const,
      ),
    );
    const lines = async () =>
      (
        await server.database.sql<{ tenant_id: string; many: number }[]>`
        select tenant_id, count(*)::int as many from waiters
         where pool_id = ${poolId} and done_at is null group by 1 order by 1`
      ).map(({ tenant_id, many }) => `${tenant_id} ${many}`);
    await expect.poll(lines, { timeout: 20_000 }).toEqual(["t-a 100"]);
    const served = wait("t-b", other);
    await expect.poll(lines, { timeout: 20_000 }).toEqual(["t-a 100", "t-b 1"]);

    abort.abort();
    const outcomes = await Promise.all(answers);
    expect(outcomes.filter((each) => each === 429)).toHaveLength(50);
    expect(outcomes.filter((each) => each === "hung up")).toHaveLength(100);
    await expect.poll(lines, { timeout: 20_000 }).toEqual(["t-b 1"]);
    await server.admin.reservations.release({ tenantId: "t-own", reservationId: full.id });
    expect((await served).status).toBe(200);
    const [booked] = await server.database.sql<{ many: number }[]>`
      select count(*)::int as many from reservations
       where pool_id = ${poolId} and tenant_id = 't-a'`;
    expect(booked?.many).toBe(0);
  }, 90_000);
});

describe("denials", () => {
  it("10,000 of one caller are one row a method and code, and bookings go on", async () => {
    const token = await server.token("t-a", "tenant-viewer");
    const knocked = await startServer({ database: server.database });
    const codes = new Set<number>();
    let left = 10_000;
    const knock = async () => {
      while ((left -= 50) >= 0) {
        const calls = Array(50).fill("reservations.create").join(",");
        const inputs = Array.from({ length: 50 }, (_, i) => [i, { json: booking("t-a") }]);
        const response = await untilTaken(() =>
          fetch(`${knocked.url}/trpc/${calls}?batch=1`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify(Object.fromEntries(inputs)),
          }),
        );
        await response.arrayBuffer();
        codes.add(response.status);
      }
    };
    try {
      const booker = await knocked.as("t-b");
      const [, , , , made] = await Promise.all([
        ...Array.from({ length: 4 }, knock),
        booker.reservations.create({
          tenantId: "t-b",
          poolId: fleet.poolId,
          devices: [{ class: "gpu", count: 1 }],
          duration: "1h",
        }),
      ]);
      expect([...codes]).toEqual([403]);
      expect(made).toMatchObject({ state: "active" });
    } finally {
      // Denials are counted in memory, and written each minute and at the end.
      await knocked.stopServing();
    }
    const [told] = await server.database.sql<{ rows: number; calls: number }[]>`
      select count(*)::int as rows, sum(count)::int as calls from audit
       where method = 'reservations.create' and outcome = 'FORBIDDEN'`;
    expect(told?.calls).toBe(10_000);
    // One, and one more for each minute that began meanwhile.
    expect(told?.rows).toBeLessThanOrEqual(2);
  }, 60_000);
});

describe("an idempotency key", () => {
  it("of another principal's makes a reservation of one's own, and tells nothing of theirs", async () => {
    const key = ":".repeat(128);
    const [a, b] = await Promise.all([server.token("t-a"), server.token("t-b")]);
    const ask = (tenantId: string, token: string) =>
      server.http("reservations.create", booking(tenantId, { idempotencyKey: key }), { token });
    const mine = await ask("t-a", a);
    const theirs = await ask("t-b", b);
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(theirs.body["id"]).not.toBe(mine.body["id"]);
    expect(theirs.headers.get("idempotent-replayed")).toBeNull();
  });

  it("used in two pools at once, in both orders, is one reservation each and no deadlock", async () => {
    const second = await server.fleet(pool(1, 8));
    const token = await server.token("t-a");
    const pools = [fleet.poolId, second.poolId];
    for (let round = 0; round < 25; round += 1) {
      const keys = [`k${round}-0`, `k${round}-1`];
      const answers = await Promise.all(
        pools.flatMap((poolId, at) =>
          (at === 0 ? keys : keys.toReversed()).map((idempotencyKey) => {
            const ask = booking("t-a", { poolId, idempotencyKey, duration: "1m" });
            return server.http("reservations.create", ask, { token });
          }),
        ),
      );
      const codes = answers.map(({ status, body }) => (status === 200 ? "OK" : body["code"]));
      for (const code of codes) expect(["OK", "CONFLICT", "NO_CAPACITY"]).toContain(code);
      const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body["id"]);
      expect(new Set(ids).size).toBe(ids.length);
      for (const reservationId of ids)
        await server.http("reservations.release", { tenantId: "t-a", reservationId }, { token });
      const [row] = await server.database.sql<{ many: number }[]>`
        select count(*)::int as many from reservation_keys where key = any(${keys})`;
      expect(row?.many).toBe(ids.length);
    }
  }, 60_000);
});

describe("a crowd", () => {
  it("of one tenant's in a pool's queue keeps nobody else waiting for more than a turn", async () => {
    const { poolId } = await server.fleet(pool(8, 8));
    const [crowd, other] = await Promise.all([server.as("t-a"), server.as("t-b")]);
    const ask = (tenantId: string) => ({
      tenantId,
      poolId,
      devices: [{ class: "gpu" as const, count: 1 }],
      duration: "1h",
    });
    let over = false;
    let answered = 0;
    const noise = Array.from({ length: 50 }, async () => {
      while (!over) {
        const made = await crowd.reservations.create(ask("t-a")).catch(() => null);
        answered += 1;
        if (made) await crowd.reservations.release({ tenantId: "t-a", reservationId: made.id });
      }
    });
    const waited: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const before = answered;
      const made = await other.reservations.create(ask("t-b"));
      waited.push(answered - before);
      await other.reservations.release({ tenantId: "t-b", reservationId: made.id });
    }
    over = true;
    await Promise.all(noise);
    // A batch carries 64: whoever asks is in the next one, or in the one after the one that is being written.
    expect(Math.max(...waited)).toBeLessThanOrEqual(2 * 64);
    process.stdout.write(
      `S38: beside 50 callers of one tenant another's 10 bookings came after ${Math.max(...waited)} of theirs at most\n`,
    );
  }, 90_000);

  it("of the dearest questions, twenty at once, leaves the server answering others", async () => {
    const { poolId } = await server.fleet(pool(64, 8, { offers: { "t-a": { gpu: 100_000 } } }));
    const viewer = await server.token("t-a", "tenant-viewer");
    const dear = [
      [
        "capacity.preview",
        {
          ...booking("t-a"),
          poolId,
          devices: [{ class: "gpu", count: 8 }],
          gang: { size: 64 },
          duration: "366d",
        },
      ],
      ["capacity.timeline", { tenantId: "t-a", poolId, stepMinutes: 5 }],
    ] as const;
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    let over = false;
    const quick: number[] = [];
    const others = (async () => {
      while (!over) quick.push((await server.http("access.whoami", {})).status);
    })();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const [method, input] = dear[n % dear.length] ?? dear[0];
        return (await server.http(method, input, { token: viewer })).status;
      }),
    );
    over = true;
    await others;
    lag.disable();
    process.stdout.write(
      `S35: 20 of the dearest reads at once: ${[...new Set(statuses)].join(", ")}; event loop p99 ${(lag.percentile(99) / 1e6).toFixed(0)} ms, most ${(lag.max / 1e6).toFixed(0)} ms; ${quick.length} others meanwhile\n`,
    );
    expect(statuses).toEqual(Array(20).fill(200));
    expect(new Set(quick)).toEqual(new Set([200]));
  }, 60_000);
});
