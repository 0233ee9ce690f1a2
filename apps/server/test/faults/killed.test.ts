/** F1: servers killed at random instants, under load through a balancer and beside it. */
import { setTimeout as delay } from "node:timers/promises";
import { createBerth } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { type SpawnedServer, expectHealthy, pool } from "../harness.ts";
import { type Balancer, balancer, expectSound, faultRun, startVictim } from "./kit.ts";
import { startLoad } from "./load.ts";

const KILLS = 40;
/** The doctor looks after so many. */
const LOOK = 4;

test("a server killed at any instant loses nothing that it acknowledged, and nobody who repeats notices", async () => {
  await faultRun("F1", KILLS, async ({ count, random }) => {
    const database = await testDatabase();
    const survivor = await startVictim(database.url);
    // Started while the one before it is at work, so that there are always two.
    let next: Promise<SpawnedServer> | null = startVictim(database.url);
    const dead: SpawnedServer[] = [];
    const fronts: Balancer[] = [];
    const pools = await Promise.all([1, 2].map(() => survivor.actors.fleet(pool(16, 8))));
    const token = await survivor.actors.token("t-a");
    const to = (url: string, maxRetries: number) =>
      createBerth({ url, token, maxRetries, timeoutMs: 30_000 });
    const shape = { tenantId: "t-a", poolIds: pools.map(({ poolId }) => poolId), random };
    const beside = startLoad({ ...shape, clients: [to(survivor.url, 0)], callers: 2 });
    const through = startLoad({ ...shape, clients: [to(survivor.url, 0)], callers: 4 });
    try {
      for (let kill = 1; kill <= count; kill += 1) {
        const victim: SpawnedServer = await (next ?? startVictim(database.url));
        next = kill < count ? startVictim(database.url) : null;
        const front = await balancer(victim, survivor);
        fronts.push(front);
        through.use(to(front.url, 6));
        await through.acked(6);
        await delay(50 + random() * 350);
        expect(front.connections(victim)).toBeGreaterThan(0);
        expect(await victim.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
        dead.push(victim);
        if (kill % LOOK === 0) await expectHealthy(database.url);
      }
      await through.acked(10);
      await Promise.all([through.stop(), beside.stop()]);
      for (const load of [through, beside])
        await expectSound({ database, load, servers: [...dead, survivor] });

      // Beside the killed ones nobody saw anything; of the others, nobody who could repeat the call.
      expect(beside.calls.filter(({ outcome }) => outcome !== "ack")).toEqual([]);
      const seen = through.calls.filter(({ outcome }) => outcome !== "ack");
      expect(seen.filter(({ repeatable }) => repeatable)).toEqual([]);
      expect(dead).toHaveLength(count);
      const acks = through.count("ack") + beside.count("ack");
      return `${count} servers killed, ${acks} acks, 0 lost, ${seen.length} extensions unknown, doctor clean`;
    } finally {
      await Promise.all([through.stop(), beside.stop()]);
      for (const server of [survivor, await next]) await server?.kill("SIGKILL");
      for (const front of fronts) await front.close();
      await database.close();
    }
  });
}, 600_000);
