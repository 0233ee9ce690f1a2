/** F2 again: killed where a server starts and stops, amid a migration and around a database of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMigrated, migrate } from "@berth/db";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { ADMIN_KEY, actors, expectHealthy, pool, spawnBerth, spawnEmbedded } from "../harness.ts";
import { faultRun } from "./kit.ts";
import { AT_START } from "./points.ts";

const TIMES = 3;
/** There are more statements than this in the migrations of any version. */
const STEPS = 60;
const KEY = { BERTH_BOOTSTRAP_TOKEN: ADMIN_KEY };
const ONE = { tenantId: "t-a", devices: [{ class: "gpu" as const, count: 1 }], duration: "8h" };

test("a server killed amid its migrations leaves nothing, and the next one migrates", async () => {
  await faultRun("F2", TIMES, async ({ count, random }) => {
    const database = await testDatabase({ empty: true });
    const steps: number[] = [];
    for (let kill = 0; kill < count; kill += 1) {
      const step = 1 + Math.trunc(random() * STEPS);
      const { ended } = spawnBerth(["migrate"], {
        DATABASE_URL: database.url,
        BERTH_FAILPOINT: `${AT_START[0]}:kill:${step}`,
      });
      expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
      const left = await database.sql`select 1 from pg_tables where schemaname = 'public'`;
      expect(left).toHaveLength(0);
      steps.push(step);
    }
    await migrate(database.url);
    expect(await isMigrated(database.url)).toBe(true);
    await expectHealthy(database.url);
    await database.close();
    return `${count} servers killed amid a migration (at statements ${steps.join(", ")}), nothing left of it, doctor clean`;
  });
}, 600_000);

test("a server killed around its own database loses no booking, and the next one starts", async () => {
  await faultRun("F2", TIMES, async ({ count }) => {
    const dataDir = mkdtempSync(join(tmpdir(), "berth-killed-"));
    const booked: string[] = [];
    let poolId = "";
    try {
      for (let kill = 0; kill < count; kill += 1) {
        const starting = spawnBerth(["serve"], {
          ...KEY,
          BERTH_DATA_DIR: dataDir,
          BERTH_FAILPOINT: `${AT_START[1]}:kill`,
          PORT: "0",
        });
        expect(await starting.ended).toEqual({ code: null, signal: "SIGKILL" });
        const server = await spawnEmbedded(dataDir, {
          ...KEY,
          BERTH_FAILPOINT: `${AT_START[2]}:kill`,
        });
        const { admin, fleet, as } = actors(server.url);
        for (const reservationId of booked)
          expect(await admin.reservations.get({ tenantId: "t-a", reservationId })).toMatchObject({
            state: "active",
          });
        if (poolId === "") ({ poolId } = await fleet(pool(1, 8)));
        const berth = await as("t-a");
        booked.push((await berth.reservations.create({ ...ONE, poolId })).id);
        expect(await server.kill("SIGTERM")).toEqual({ code: null, signal: "SIGKILL" });
      }
      const doctor = spawnBerth(["doctor"], { BERTH_DATA_DIR: dataDir });
      expect(await doctor.ended, doctor.stdout()).toMatchObject({ code: 0 });
      return `${count} servers killed when their database had started, ${count} when it was about to stop, ${booked.length} bookings kept, doctor clean`;
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
}, 600_000);
