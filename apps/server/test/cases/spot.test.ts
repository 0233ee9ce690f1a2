/** Spot bookings in the way of regular ones: as few as possible are told to go, and the preview says how many. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Reservation } from "@berth/client";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { type Asker, HOUR, MINUTE, NOW, asker, bookGpus, gpuRequest, refusal } from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./invariants.ts";

const NOTICE = 2 * MINUTE;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

/** One node of 8 GPUs with these bookings of t-a on it. */
async function filled(
  counts: readonly number[],
  spot: boolean,
): Promise<{ fleet: Fleet; a: Asker; b: Asker; held: Reservation[] }> {
  const fleet = await server.fleet(pool(1, 8));
  const a = await asker(server, "t-a", fleet);
  const held: Reservation[] = [];
  for (const count of counts) held.push(await bookGpus(a, count, { spot, duration: "4h" }));
  return { fleet, a, b: await asker(server, "t-b", fleet), held };
}

async function noticed({ berth, tenantId, poolId }: Asker): Promise<Reservation[]> {
  const found = await berth.reservations.list({ tenantId, poolId, state: ["preempting"] });
  return found.reservations;
}

describe("a regular booking without room", () => {
  it.each([
    { of: "eight singles, one wanted", spots: [1, 1, 1, 1, 1, 1, 1, 1], wanted: 1, told: 1 },
    {
      of: "six singles beside two free, three wanted",
      spots: [1, 1, 1, 1, 1, 1],
      wanted: 3,
      told: 1,
    },
    { of: "a four and four singles, four wanted", spots: [4, 1, 1, 1, 1], wanted: 4, told: 1 },
  ])(
    "sends as few spot bookings away as can be, as many as its preview says ($of)",
    async (row) => {
      const { fleet, a, b } = await filled(row.spots, true);
      const preview = await b.berth.capacity.preview(gpuRequest(b, row.wanted));
      expect(preview).toMatchObject({
        fits: false,
        preemptible: { count: row.told, startsAt: NOW + NOTICE },
      });
      const mine = await bookGpus(b, row.wanted);
      expect(mine).toMatchObject({ state: "scheduled", start: NOW + NOTICE });
      const told = await noticed(a);
      expect(told).toHaveLength(row.told);
      for (const victim of told)
        expect(victim).toMatchObject({
          end: NOW + NOTICE,
          preemption: { noticeAt: NOW, endsAt: NOW + NOTICE },
        });
      await expectConsistent(server, fleet);
      await expectEmptyAfterRelease(server, fleet);
    },
  );

  it("sends nobody away where regular bookings are in the way, and says so beforehand", async () => {
    const { fleet, a, b } = await filled([1, 1, 1, 1, 1, 1, 1, 1], false);
    const preview = await b.berth.capacity.preview(gpuRequest(b, 1));
    expect(preview).toMatchObject({ fits: false, preemptible: null });
    expect((await refusal(bookGpus(b, 1))).code).toBe("NO_CAPACITY");
    expect(await noticed(a)).toEqual([]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("that is spot itself sends nobody away", async () => {
    const { fleet, a, b } = await filled([8], true);
    const preview = await b.berth.capacity.preview(gpuRequest(b, 1, { spot: true }));
    expect(preview).toMatchObject({ fits: false, preemptible: null });
    expect((await refusal(bookGpus(b, 1, { spot: true }))).code).toBe("NO_CAPACITY");
    expect(await noticed(a)).toEqual([]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("that is given up during the notice leaves its victims what they had", async () => {
    const { fleet, a, b, held } = await filled([8], true);
    const mine = await bookGpus(b, 8);
    const [victim] = await noticed(a);
    expect(victim?.id).toBe(held[0]?.id);
    await b.berth.reservations.release({ tenantId: "t-b", reservationId: mine.id });
    const reservationId = String(victim?.id);
    expect(await a.berth.reservations.get({ tenantId: "t-a", reservationId })).toMatchObject({
      state: "active",
      end: NOW + 4 * HOUR,
      preemption: null,
    });
    await expectEmptyAfterRelease(server, fleet);
  });
});
