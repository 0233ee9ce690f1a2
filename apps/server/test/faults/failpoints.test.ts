/** F2: servers killed at each named point, and the names themselves. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FAILPOINTS } from "@berth/db";
import { createBerth } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { describe, expect, it, test } from "vitest";
import { readConfig } from "../../src/index.ts";
import { type SpawnedServer, expectHealthy, pool, spawnBerth } from "../harness.ts";
import { type Balancer, balancer, expectSound, faultRun, startVictim } from "./kit.ts";
import { startLoad } from "./load.ts";
import { AT_START, AT_WORK, makeYard, pester } from "./points.ts";

const TIMES = 3;
/** Of the points that every booking passes, one of the first so many passings. */
const PASSINGS = 12;
const SELDOM = /^(waiter|advance|reclaim|heal)\./;

describe("the named points", () => {
  it("are those that the sources pass, and each is one that a server is killed at", () => {
    const packages = fileURLToPath(new URL("../../../../packages/", import.meta.url));
    const passed = ["db", "engine"].flatMap((name) => namesIn(join(packages, name, "src")));
    expect([...new Set(passed)].toSorted()).toEqual(FAILPOINTS.toSorted());
    expect([...AT_WORK, ...AT_START].toSorted()).toEqual(FAILPOINTS.toSorted());
  });

  it.each(["apply.before", "apply.before:explode", "apply.before:kill:0", "apply.before:delay"])(
    "are refused with another action than there is: %s",
    (value) => {
      expect(() => readConfig({ BERTH_FAILPOINT: value })).toThrow(
        "BERTH_FAILPOINT must be point:action",
      );
    },
  );

  it("that there are not stop the start, in one line that says which there are", async () => {
    const { ended, stderr } = spawnBerth(["serve"], {
      DATABASE_URL: "postgres://postgres@127.0.0.1:9/none",
      BERTH_FAILPOINT: "apply.before:kill:3,apply.never:stop",
      PORT: "0",
    });
    expect((await ended).code).toBe(2);
    expect(stderr()).toBe(`berth: BERTH_FAILPOINT must name points of ${FAILPOINTS.join(", ")}\n`);
  });
});

test("a server killed at each named point of its work loses nothing that it acknowledged", async () => {
  await faultRun("F2", TIMES, async ({ count, random }) => {
    const database = await testDatabase();
    const survivor = await startVictim(database.url);
    const fronts: Balancer[] = [];
    const kills = AT_WORK.flatMap((point) => Array<string>(count).fill(point));
    const armed = (point: string | undefined) =>
      point === undefined
        ? null
        : startVictim(database.url, {
            BERTH_FAILPOINT: `${point}:kill:${1 + Math.trunc(random() * (SELDOM.test(point) ? 2 : PASSINGS))}`,
          });
    const dead: SpawnedServer[] = [];
    const yard = await makeYard(survivor);
    const pools = await Promise.all([1, 2].map(() => survivor.actors.fleet(pool(16, 8))));
    const poolIds = pools.map(({ poolId }) => poolId);
    const { token } = yard;
    const to = (url: string) => createBerth({ url, token, maxRetries: 6, timeoutMs: 30_000 });
    const clients = [to(survivor.url)];
    const load = startLoad({ clients, tenantId: "t-a", poolIds, random, callers: 4 });
    let next = armed(kills[0]);
    try {
      for (const [at, point] of kills.entries()) {
        const victim = await next;
        next = armed(kills[at + 1]);
        if (!victim) break;
        expect(victim.stderr()).toContain("BERTH_FAILPOINT is set");
        const front = await balancer(victim, survivor);
        fronts.push(front);
        load.use(to(front.url));
        const [ended] = await Promise.all([
          victim.ended,
          SELDOM.test(point) ? pester(victim, yard) : null,
        ]);
        expect(ended, point).toEqual({ code: null, signal: "SIGKILL" });
        dead.push(victim);
        if (at % count === count - 1) await expectHealthy(database.url);
      }
      await load.stop();
      await expectSound({ database, load, servers: [...dead, survivor] });
      const seen = load.calls.filter(({ outcome }) => outcome !== "ack");
      expect(seen.filter(({ repeatable }) => repeatable)).toEqual([]);
      expect(dead).toHaveLength(AT_WORK.length * count);
      return `${dead.length} servers killed at ${AT_WORK.length} points of their work, ${load.count("ack")} acks, 0 lost, doctor clean`;
    } finally {
      await load.stop();
      for (const server of [await next, survivor]) await server?.kill("SIGKILL");
      for (const front of fronts) await front.close();
      await database.close();
    }
  });
}, 600_000);

/** Names that are passed in the sources of a folder, without its tests. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|^testing\//.test(file))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), "utf8").matchAll(/failpoint\("([a-z.]+)"\)/g),
    ])
    .map(([, name = ""]) => name);
}
