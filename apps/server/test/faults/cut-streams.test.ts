/** A watcher over a wire that is cut again and again, before servers that die: each event once, in order. */
import { createBerth, isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test, vi } from "vitest";
import { type SpawnedServer, expectHealthy, pool, spawnServer } from "../harness.ts";
import { cuttingProxy } from "./cutting-proxy.ts";
import { STOPPED, everyEvent, follow } from "./watching.ts";

const CUTS = 20;
/** Every how many cuts one of the servers is killed and another started. */
const KILL_EVERY = 7;
/** Events between two cuts at least. */
const EVENTS_APART = 8;
const WAIT = { timeout: 60_000, interval: 20 };

test("20 cuts and killed servers: a watcher of three pools has each event once, in the order of the list", async () => {
  const database = await testDatabase();
  const servers = [await spawnServer(database.url), await spawnServer(database.url)];
  const [first] = servers as [SpawnedServer, ...SpawnedServer[]];
  const proxy = await cuttingProxy(...servers.map(({ url }) => url));
  const stop = new AbortController();
  try {
    const pools = [];
    for (let n = 0; n < 3; n += 1) pools.push((await first.actors.fleet(pool(4, 8))).poolId);
    const token = await first.actors.token("t-a");
    const noise = await first.actors.token("t-b");
    await database.feedCaughtUp();
    const start = (await everyEvent(first.actors.admin, undefined)).at(-1)?.cursor;

    // Watched from a cursor, and by another from now on; both through the wire that is cut.
    let tokensAsked = 0;
    const watcher = createBerth({
      url: proxy.url,
      token: () => {
        tokensAsked += 1;
        return token;
      },
    });
    const seen = follow(watcher, { lastEventId: start }, stop.signal);
    const fresh = follow(watcher, {}, stop.signal);
    await vi.waitFor(() => expect(tokensAsked).toBeGreaterThanOrEqual(2), WAIT);

    const writing = [
      ...pools.map((poolId, n) =>
        write(servers, { n, poolId, token, tenantId: "t-a" }, stop.signal),
      ),
      write(servers, { n: 1, poolId: pools[0] ?? "", token: noise, tenantId: "t-b" }, stop.signal),
    ];
    let cut = 0;
    let killed = 0;
    while (cut < CUTS) {
      const from = seen.events.length;
      await vi.waitFor(
        () => expect(seen.events.length).toBeGreaterThanOrEqual(from + EVENTS_APART),
        WAIT,
      );
      if (cut % KILL_EVERY === KILL_EVERY - 1) {
        const victim = killed % 2;
        await servers[victim]?.kill("SIGKILL");
        killed += 1;
        servers[victim] = await spawnServer(database.url);
        proxy.to(...servers.map(({ url }) => url));
      }
      expect(proxy.cutAll()).toBeGreaterThan(0);
      cut += 1;
    }
    stop.abort(STOPPED);
    const failures = (await Promise.all(writing)).reduce((sum, count) => sum + count, 0);

    // What is written by now is read to its end over one more connection each.
    const end = new AbortController();
    const survivor = servers[1] as SpawnedServer;
    await database.feedCaughtUp();
    const list = await everyEvent(survivor.actors.admin, start);
    const rest = follow(watcher, { lastEventId: seen.events.at(-1)?.cursor }, end.signal);
    const freshRest = follow(watcher, { lastEventId: fresh.events.at(-1)?.cursor }, end.signal);
    await vi.waitFor(() => {
      expect(rest.events.at(-1)?.id ?? seen.events.at(-1)?.id).toBe(list.at(-1)?.id);
      expect(freshRest.events.at(-1)?.id ?? fresh.events.at(-1)?.id).toBe(list.at(-1)?.id);
    }, WAIT);
    end.abort(STOPPED);
    for (const watched of [seen, fresh, rest, freshRest]) expect(await watched.ended).toBe(STOPPED);

    expect(killed).toBe(Math.floor(CUTS / KILL_EVERY));
    expect(tokensAsked).toBeGreaterThan(CUTS);
    const told = [...seen.events, ...rest.events];
    expect(told.map(({ id }) => id)).toEqual(list.map(({ id }) => id));
    expect(told).toEqual(list);
    const alsoTold = [...fresh.events, ...freshRest.events].map(({ id }) => id);
    expect(alsoTold).toEqual(list.map(({ id }) => id).slice(-alsoTold.length));
    expect(new Set(told.map(({ poolId }) => poolId))).toEqual(new Set(pools));
    expect(JSON.stringify(told)).not.toContain("t-b");
    await expectHealthy(database.url);
    process.stdout.write(
      `${told.length} events over ${tokensAsked} connections, ${killed} servers killed, ${failures} writes failed; ` +
        `from the pool's clock to the watcher, cuts included: ${percentiles(seen.delays)}\n`,
    );
  } finally {
    stop.abort(STOPPED);
    await proxy.close();
    for (const server of servers) await server.kill("SIGKILL");
    await database.close();
  }
}, 300_000);

/** Books and releases until told to stop; answers how many calls failed. */
async function write(
  servers: readonly SpawnedServer[],
  ask: { n: number; poolId: string; token: string; tenantId: string },
  signal: AbortSignal,
): Promise<number> {
  const { poolId, token, tenantId } = ask;
  let failures = 0;
  for (let n = ask.n; !signal.aborted; n += 1) {
    const berth = createBerth({ url: servers[n % 2]?.url ?? "", token, maxRetries: 0 });
    try {
      const { id } = await berth.reservations.create({
        tenantId,
        poolId,
        devices: [{ class: "gpu", count: 1 }],
        duration: "1h",
      });
      await berth.reservations.release({ tenantId, reservationId: id });
    } catch (error) {
      // A server that was killed.
      if (!isBerthError(error) || !error.retryable) throw error;
      failures += 1;
    }
  }
  return failures;
}

function percentiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`;
}
