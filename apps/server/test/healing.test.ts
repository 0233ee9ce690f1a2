/** A node fails under many bookings on a real server: what moves, what is flagged, what comes right later. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Reservation } from "@berth/client";
import { HOUR, NOW, asker, bookGpus, range, release, unitsOf } from "./cases/asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./cases/invariants.ts";
import { METRICS_TOKEN, counter } from "./faults/together.ts";
import { type TestServer, pool, startServer } from "./harness.ts";

const GANGS = 20;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW, config: { metricsToken: METRICS_TOKEN } });
});
afterAll(() => server.stop());

it("twenty gangs each move whole or are flagged where they are, and come right as soon as there is room", async () => {
  const fleet = await server.fleet(pool(10, 8));
  const a = await asker(server, "t-a", fleet);
  const b = await asker(server, "t-b", fleet);
  const at = (hour: number) => ({ start: NOW + hour * HOUR });
  const gangs = await Promise.all(
    range(GANGS).map((n) => bookGpus(a, 8, { ...at(n + 1), gang: { size: 2 } })),
  );
  const failing = gangs[0]?.members?.[0]?.nodeId ?? "";
  const holds = (gang: Reservation): boolean =>
    (gang.members ?? []).some(({ nodeId }) => nodeId === failing);
  expect(gangs.every(holds)).toBe(true);
  // No other node is free in the first ten hours.
  const fillers = await Promise.all(
    [1, 6].flatMap((hour) => range(8).map(() => bookGpus(b, 8, { ...at(hour), duration: "5h" }))),
  );
  const before = new Map(gangs.map((gang) => [gang.id, gang]));

  const figures = async (when: string, soundNode: boolean) => {
    const { reservations } = await a.berth.reservations.list({
      tenantId: "t-a",
      poolId: fleet.poolId,
      include: ["members"],
      limit: 200,
    });
    const moved = reservations.filter((gang) => unitsOf(gang).join() !== was(gang));
    const flagged = reservations.filter(({ degraded }) => degraded);
    for (const gang of reservations) {
      expect(gang.members).toHaveLength(2);
      expect(new Set(unitsOf(gang)).size).toBe(16);
      expect(gang.start).toBe(before.get(gang.id)?.start);
      if (!soundNode) expect(holds(gang)).toBe(gang.degraded !== null);
      if (gang.degraded) expect(unitsOf(gang).join()).toBe(was(gang));
    }
    process.stdout.write(
      `healing, ${when}: of ${reservations.length} gangs ${moved.length} moved whole, ${flagged.length} flagged\n`,
    );
    return { moved: moved.length, flagged: flagged.length };
  };
  const was = ({ id }: Reservation): string => unitsOf(before.get(id) as Reservation).join();

  await server.admin.fleet.setNodeState({ nodeId: failing, state: "unreachable" });
  expect(await figures("their node failed", false)).toEqual({ moved: 10, flagged: 10 });
  await expectConsistent(server, fleet);
  await release(b, fillers[0] as Reservation);
  expect(await figures("another one is free for five hours", false)).toEqual({
    moved: 15,
    flagged: 5,
  });
  await server.admin.fleet.setNodeState({ nodeId: failing, state: "ready" });
  expect(await figures("their node is ready again", true)).toEqual({ moved: 15, flagged: 0 });
  await expectConsistent(server, fleet);

  const metric = (name: string) => counter(server.url, `berth_${name}_total`);
  expect(await metric("healed")).toBe(GANGS);
  expect(await metric("degraded")).toBe(10);
  expect(await metric("healing_tries")).toBeGreaterThanOrEqual(GANGS + 10);
  expect(await metric("healing_searches")).toBeGreaterThanOrEqual(GANGS);
  await expectEmptyAfterRelease(server, fleet);
}, 60_000);
