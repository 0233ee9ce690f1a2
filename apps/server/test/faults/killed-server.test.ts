import { createBerth, isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, spawnServer } from "../harness.ts";
import { expectEachKeyOnce } from "./together.ts";

const CREATES = 500;
const CALLERS = 25;
const KILLED_AFTER = 150;

test("a server killed amid 500 creates leaves each key with exactly one reservation", async () => {
  const database = await testDatabase();
  const [victim, survivor] = [await spawnServer(database.url), await spawnServer(database.url)];
  try {
    const { poolId } = await survivor.actors.fleet(pool(64, 8));
    const token = await survivor.actors.token("t-a");
    const servers = [victim, survivor].map(({ url }) =>
      createBerth({ url, token, maxRetries: 0, timeoutMs: 20_000 }),
    );
    const answered = new Map<string, string>();
    const killed: Promise<unknown>[] = [];
    let lost = 0;
    let next = 0;

    const create = async (key: string, first: number): Promise<string> => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const berth = servers[(first + attempt) % 2];
          const made = await berth?.reservations.create({
            tenantId: "t-a",
            poolId,
            devices: [{ class: "gpu", count: 1 }],
            duration: "1h",
            idempotencyKey: key,
          });
          if (made) return made.id;
        } catch (error) {
          if (!isBerthError(error) || !error.retryable || attempt >= 20) throw error;
          lost += 1;
        }
      }
    };
    const caller = async () => {
      while (next < CREATES) {
        const n = next;
        next += 1;
        answered.set(`key-${n}`, await create(`key-${n}`, n));
        if (answered.size === KILLED_AFTER) killed.push(victim.kill("SIGKILL"));
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));

    expect(await Promise.all(killed)).toMatchObject([{ signal: "SIGKILL" }]);
    expect(lost).toBeGreaterThan(0);
    expect(answered.size).toBe(CREATES);
    await expectEachKeyOnce(database, answered);
    await expectHealthy(database.url);
  } finally {
    await victim.kill("SIGKILL");
    await survivor.kill();
    await database.close();
  }
}, 240_000);
