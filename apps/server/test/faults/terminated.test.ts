/** F14: servers told to end, again and again, under load and with somebody waiting. */
import { createBerth } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { ADMIN_KEY, type SpawnedServer, expectHealthy, pool } from "../harness.ts";
import { type Balancer, balancer, expectSound, faultRun, startVictim } from "./kit.ts";
import { startLoad } from "./load.ts";
import { counter } from "./together.ts";

const STOPS = 10;
/** What an operator's tool waits before it kills. */
const PATIENCE_MS = 30_000;
/** Answers take a moment, so that the drain can be seen. */
const SLOW = { BERTH_FAILPOINT: "reply.before:delay:100" };

test("a server told to end under load loses nothing, tells those who wait, and exits 0", async () => {
  await faultRun("F14", STOPS, async ({ count, random }) => {
    const database = await testDatabase();
    const survivor = await startVictim(database.url);
    let next: Promise<SpawnedServer> | null = startVictim(database.url, SLOW);
    const { fleet, token } = survivor.actors;
    const pools = [await fleet(pool(16, 8)), await fleet(pool(16, 8))];
    const full = await fleet(pool(1, 1));
    const key = await token("t-a");
    const to = (url: string, maxRetries: number) =>
      createBerth({ url, token: key, maxRetries, timeoutMs: 60_000 });
    const one = {
      tenantId: "t-a",
      poolId: full.poolId,
      devices: [{ class: "gpu" as const, count: 1 }],
      duration: "1h",
    };
    await to(survivor.url, 0).reservations.create(one);
    const poolIds = pools.map(({ poolId }) => poolId);
    const clients = [to(survivor.url, 0)];
    const load = startLoad({ clients, tenantId: "t-a", poolIds, random, callers: 4 });
    const ended: SpawnedServer[] = [];
    const fronts: Balancer[] = [];
    let refused = 0;
    try {
      for (let stop = 1; stop <= count; stop += 1) {
        const victim: SpawnedServer = await (next ?? startVictim(database.url, SLOW));
        next = stop < count ? startVictim(database.url, SLOW) : null;
        const front = await balancer(victim, survivor);
        fronts.push(front);
        load.use(to(front.url, 6));
        const waiting = to(victim.url, 0)
          .reservations.create({ ...one, wait: { timeoutMs: 30_000 } })
          .catch((error: unknown) => error);
        await inLine(victim);
        await load.acked(6);
        expect(front.connections(victim)).toBeGreaterThan(0);
        const late = setTimeout(() => victim.process.kill("SIGKILL"), PATIENCE_MS);
        const asking = askUntilGone(victim);
        expect(await victim.kill("SIGTERM")).toEqual({ code: 0, signal: null });
        clearTimeout(late);
        expect(await waiting).toMatchObject({ code: "UNAVAILABLE", retryable: true });
        refused += await asking;
        ended.push(victim);
      }
      await load.stop();
      await expectSound({ database, load, servers: [...ended, survivor] });
      const seen = load.calls.filter(({ outcome }) => outcome !== "ack");
      expect(seen.filter(({ repeatable }) => repeatable)).toEqual([]);
      // An extension is not repeated by the client, but it is never left in the dark: nothing is cut off.
      expect(seen.filter(({ outcome }) => outcome !== "unavailable")).toEqual([]);
      expect(refused).toBeGreaterThan(0);
      return (
        `${ended.length} servers ended under load with status 0, ${count} waiters told, ` +
        `${refused} calls refused with Connection: close, ${load.count("ack")} acks, 0 lost, doctor clean`
      );
    } finally {
      await load.stop();
      for (const server of [survivor, await next]) await server?.kill("SIGKILL");
      for (const front of fronts) await front.close();
      await expectHealthy(database.url);
      await database.close();
    }
  });
}, 600_000);

/** Resolves when somebody waits on that server. */
async function inLine({ url }: SpawnedServer): Promise<void> {
  await expect
    .poll(() => counter(url, "berth_waiters"), { timeout: 30_000, interval: 20 })
    .toBeGreaterThan(0);
}

/** Calls until nobody answers; how many answers said that the server ends, each of which closes its connection. */
async function askUntilGone({ url }: SpawnedServer): Promise<number> {
  const input = { method: "POST", body: "{}" };
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
  for (let refused = 0; ;) {
    const response = await fetch(`${url}/api/compute/access/whoami`, { ...input, headers }).catch(
      () => null,
    );
    if (response === null) return refused;
    await response.text();
    if (response.status === 200) continue;
    expect(response.status).toBe(503);
    expect(response.headers.get("connection")).toBe("close");
    refused += 1;
  }
}
