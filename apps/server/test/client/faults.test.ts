/** What goes wrong around one call or one hold, against a real server: too many calls, and a machine that sleeps. */
import { type Hold, createBerth, gpus } from "@berth/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type TestServer, pool, startServer } from "../harness.ts";

const WAIT = { timeout: 30_000, interval: 20 };

const servers: TestServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const server of servers.splice(0).toReversed()) await server.stop();
});

async function started(options: Parameters<typeof startServer>[0]): Promise<TestServer> {
  const server = await startServer(options);
  servers.push(server);
  return server;
}

describe("a server that says when to come back", () => {
  it("is asked again no sooner, with the same key, and books each once", async () => {
    const first = await started({});
    const { poolId } = await first.fleet(pool(1, 8));
    const token = await first.token("t-a");
    const { url } = await started({ database: first.database, config: { rateLimit: 3 } });
    const keys: (string | null)[] = [];
    const waits: number[] = [];
    const codes: string[] = [];
    const berth = createBerth({
      url,
      token,
      timeoutMs: 120_000,
      hooks: {
        onRequest: ({ idempotencyKey }) => void keys.push(idempotencyKey),
        onRetry({ ms, error }) {
          codes.push(error.code);
          waits.push(ms);
          passOver(ms);
        },
      },
    });
    const ask = { tenantId: "t-a", poolId, ...gpus(1), duration: "1h" };
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { data, headers } = await berth.reservations.create(ask).withResponse();
      expect(headers.get("idempotent-replayed")).toBeNull();
      ids.push(data.id);
    }
    // Three of a minute, then the rest of the minute and up to a quarter of it, as it falls, so that not all who were
    // told the same come at once; and on with the key of the fourth.
    expect(codes).toEqual(["RATE_LIMITED"]);
    expect(waits[0]).toBeGreaterThan(30_000);
    expect(waits[0]).toBeLessThanOrEqual(1.25 * 60_000);
    expect(keys).toHaveLength(6);
    expect(keys[3]).toBe(keys[4]);
    expect(new Set(keys).size).toBe(5);
    const { reservations } = await (
      await first.as("t-a")
    ).reservations.list({
      tenantId: "t-a",
      poolId,
    });
    expect(reservations.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await first.expectHealthy();
  });
});

/** The server's minute is over, and so is the client's next pause, which begins right after this. */
function passOver(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
  const { setTimeout: real } = globalThis;
  const next = (run: () => void, wanted: number): NodeJS.Timeout => {
    expect(wanted).toBe(ms);
    return real(run, 0);
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementationOnce(next as typeof setTimeout);
}

describe("a laptop that sleeps", () => {
  const LEASE_SECONDS = 120;

  /** Somebody who holds a GPU of a server whose clock goes as far as theirs when they sleep. */
  async function holding(body: (hold: Hold, sleep: Sleep) => Promise<void>): Promise<void> {
    const server = await started({ clock: true });
    const { poolId } = await server.fleet(pool(1, 8));
    const berth = await server.as("t-a");
    const ask = { tenantId: "t-a", poolId, ...gpus(1), duration: "4h" };
    await berth.withHold({ ...ask, leaseSeconds: LEASE_SECONDS }, (hold) =>
      body(hold, async (ms) => {
        await server.clock?.advance(ms);
        vi.setSystemTime(Date.now() + ms);
      }),
    );
    const { reservations } = await berth.reservations.list({ tenantId: "t-a", poolId });
    expect(reservations.map(({ state }) => state)).not.toContain("active");
    await server.expectHealthy();
  }

  type Sleep = (ms: number) => Promise<void>;

  it("for less than its lease renews when it wakes up, and holds on", async () => {
    await holding(async (hold, sleep) => {
      for (let naps = 0; naps < 2; naps += 1) {
        const { version, leaseExpiresAt } = hold.reservation;
        await sleep(0.75 * LEASE_SECONDS * 1_000);
        await vi.waitFor(() => expect(hold.reservation.version).toBeGreaterThan(version), WAIT);
        expect(hold.reservation.leaseExpiresAt).toBeGreaterThan(leaseExpiresAt ?? 0);
        expect(hold.signal.aborted).toBe(false);
      }
    });
  });

  it("for longer is told that it lost what it held, and by what", async () => {
    await holding(async (hold, sleep) => {
      await sleep(10 * LEASE_SECONDS * 1_000);
      const lost = await hold.lost;
      expect(lost.details).toMatchObject({ reason: "expired", reservation: { state: "expired" } });
      expect(hold.signal.reason).toBe(lost);
    });
  });
});
