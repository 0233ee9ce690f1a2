/** A faulty GPU is out once: not as faulty and as booked. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, pool, startServer } from "../harness.ts";
import { NOW, asker, bookGpus, gpuRequest, refusal, release, unitsOf } from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease, gpuRow } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

describe("a booked GPU that fails", () => {
  it("takes no healthy GPU with it, and comes back only healthy", async () => {
    const fleet = await server.fleet(pool(1, 2));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const c = await asker(server, "t-c", fleet);
    const setHealth = (unitId: string, healthy: boolean) =>
      server.admin.fleet.setUnitHealth({ unitId, healthy });
    const mine = await bookGpus(a, 1);
    const [failed = ""] = unitsOf(mine);
    await setHealth(failed, false);
    expect(await gpuRow(server, fleet)).toMatchObject({
      total: 2,
      allocatable: 1,
      unhealthy: 1,
      allocated: 1,
      available: 1,
    });

    const shown = () => a.berth.reservations.get({ tenantId: "t-a", reservationId: mine.id });
    const degraded = { since: NOW, cause: "UNHEALTHY", unitIds: [failed] };
    expect(await shown()).toMatchObject({ state: "active", members: mine.members, degraded });

    const preview = await b.berth.capacity.preview(gpuRequest(b, 1));
    expect(preview.fits).toBe(true);
    expect(preview.candidates.map(({ atoms }) => atoms)).toEqual([[expect.any(String)]]);
    expect(preview.candidates[0]?.atoms).not.toContain(failed);
    const theirs = await bookGpus(b, 1);
    expect(unitsOf(theirs)).toEqual(preview.candidates[0]?.atoms);
    expect((await refusal(bookGpus(c, 1))).code).toBe("NO_CAPACITY");
    expect(await gpuRow(server, fleet)).toMatchObject({ unhealthy: 1, allocated: 2, available: 0 });
    await expectConsistent(server, fleet);

    await setHealth(failed, true);
    expect(await shown()).toMatchObject({ members: mine.members, degraded: null });
    expect((await refusal(bookGpus(c, 1))).code).toBe("NO_CAPACITY");
    await setHealth(failed, false);
    await release(a, mine);
    const refused = await refusal(bookGpus(c, 1));
    expect(refused.code).toBe("NO_CAPACITY");
    expect(await gpuRow(server, fleet)).toMatchObject({
      total: 2,
      allocatable: 1,
      unhealthy: 1,
      allocated: 1,
      available: 0,
    });
    await expectConsistent(server, fleet);

    await setHealth(failed, true);
    expect(unitsOf(await bookGpus(c, 1))).toEqual([failed]);
    await expectEmptyAfterRelease(server, fleet);
  });
});
