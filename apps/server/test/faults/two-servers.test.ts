import { isBerthError } from "@berth/client";
import { testDatabase } from "@berth/db/testing";
import { expect, test } from "vitest";
import { expectHealthy, pool, spawnServer } from "../harness.ts";
import { METRICS, counter } from "./together.ts";

const TENANTS = ["t-a", "t-b", "t-c", "t-d"];
const ROUNDS = 20;

test("40 callers of 4 tenants through two servers get 40 distinct GPUs of 40, twenty times over", async () => {
  const database = await testDatabase();
  const servers = [
    await spawnServer(database.url, METRICS),
    await spawnServer(database.url, METRICS),
  ] as const;
  try {
    const [first, second] = servers;
    const offers = Object.fromEntries(TENANTS.map((tenantId) => [tenantId, { gpu: 1_000 }]));
    const { poolId } = await first.actors.fleet(pool(5, 8, { offers }));
    const clients = await Promise.all(
      [first, second].map((server) => Promise.all(TENANTS.map((t) => server.actors.as(t)))),
    );
    const one = [{ class: "gpu" as const, count: 1 }];
    const client = (n: number) => {
      const berth = clients[n % 2]?.[n % TENANTS.length];
      const tenantId = TENANTS[n % TENANTS.length] ?? "";
      if (!berth) throw new Error("there is a client for every tenant and server");
      return { berth, tenantId };
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const booked = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const { berth, tenantId } = client(n + Math.floor(n / 4));
          const reservation = await berth.reservations.create({
            tenantId,
            poolId,
            devices: one,
            duration: "1h",
          });
          return { berth, tenantId, reservation };
        }),
      );
      const units = booked.flatMap(({ reservation }) =>
        (reservation.members ?? []).flatMap(({ atoms }) => atoms.map(({ unitId }) => unitId)),
      );
      expect(new Set(units).size).toBe(40);
      for (const n of [0, 1]) {
        const { berth, tenantId } = client(n);
        const refused = await berth.reservations
          .create({ tenantId, poolId, devices: one, duration: "1h" })
          .catch((error: unknown) => error);
        expect(isBerthError(refused, "NO_CAPACITY")).toBe(true);
      }
      await Promise.all(
        booked.map(({ berth, tenantId, reservation }) =>
          berth.reservations.release({ tenantId, reservationId: reservation.id }),
        ),
      );
    }
    for (const { url } of servers) {
      expect(await counter(url, "berth_violations_total")).toBe(0);
      expect(await counter(url, "berth_calls_total", 'code="INTERNAL"')).toBe(0);
      expect(await counter(url, "berth_calls_total", 'code="UNAVAILABLE"')).toBe(0);
    }
    await expectHealthy(database.url);
  } finally {
    for (const server of servers) await server.kill();
    await database.close();
  }
}, 240_000);
