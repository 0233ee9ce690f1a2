/** A lease that has lapsed is over for good, and a change that is refused changes nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, pool, startServer } from "../harness.ts";
import { type Asker, HOUR, NOW, SECOND, asker, bookGpus, refusal, release } from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease } from "./invariants.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

function clock(): NonNullable<TestServer["clock"]> {
  if (!server.clock) throw new Error("the server's clock is stopped");
  return server.clock;
}

const renew = ({ berth, tenantId }: Asker, reservationId: string) =>
  berth.reservations.renew({ tenantId, reservationId });
const read = ({ berth, tenantId }: Asker, reservationId: string) =>
  berth.reservations.get({ tenantId, reservationId });

describe("a lease that has lapsed", () => {
  it("is not renewed, whether or not anything has looked at it since, and its GPU is another's", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const now = await clock().now();
    const mine = await bookGpus(a, 1, { leaseSeconds: 30 });
    expect(mine.leaseExpiresAt).toBe(now + 30 * SECOND);
    // The renewal is the first to see the pool after the lapse, unless the worker is faster.
    await clock().advance(30 * SECOND);
    expect((await refusal(renew(a, mine.id))).code).toBe("INVALID_STATE");
    const lapsed = await read(a, mine.id);
    expect(lapsed).toMatchObject({
      state: "expired",
      endedAt: now + 30 * SECOND,
      leaseExpiresAt: now + 30 * SECOND,
      version: mine.version + 1,
    });
    const theirs = await bookGpus(b, 1);
    expect(theirs).toMatchObject({ state: "active", start: now + 30 * SECOND });
    expect((await refusal(renew(a, mine.id))).code).toBe("INVALID_STATE");
    expect((await refusal(extend(a, mine.id, now + 2 * HOUR))).code).toBe("INVALID_STATE");
    expect(await release(a, mine)).toEqual(lapsed);
    expect(await read(b, theirs.id)).toEqual(theirs);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("frees its GPU for a create that comes first, before any renewal", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 1, { leaseSeconds: 30 });
    await clock().advance(30 * SECOND);
    const [booked, renewed] = await Promise.allSettled([bookGpus(b, 1), renew(a, mine.id)]);
    expect([booked.status, renewed.status]).toEqual(["fulfilled", "rejected"]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("one millisecond before it lapses is renewed, from then on", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const now = await clock().now();
    const mine = await bookGpus(a, 1, { leaseSeconds: 30 });
    await clock().advance(30 * SECOND - 1);
    const renewed = await renew(a, mine.id);
    expect(renewed.leaseExpiresAt).toBe(now + 60 * SECOND - 1);
    await clock().advance(30 * SECOND - 1);
    expect((await read(a, mine.id)).state).toBe("active");
    await clock().advance(1);
    expect((await read(a, mine.id)).state).toBe("expired");
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a change that is refused", () => {
  it("leaves the live lease as it was: state, end, expiry, units and version", async () => {
    const offers = { "t-a": { gpu: 2 }, "t-b": { gpu: 2 } };
    const policy = { maxDuration: "2h" };
    const fleet = await server.fleet(pool(1, 2, { offers, policy }));
    const a = await asker(server, "t-a", fleet);
    const now = await clock().now();
    const mine = await bookGpus(a, 2, { leaseSeconds: 60 });
    const token = await server.token("t-a");
    const send = (method: string, input: object) =>
      server.http(method, { tenantId: "t-a", reservationId: mine.id, ...input }, { token });
    const refused: readonly (readonly [string, object, string])[] = [
      ["reservations.renew", { leaseSeconds: 29 }, "INVALID_INPUT"],
      ["reservations.renew", { version: 0 }, "INVALID_INPUT"],
      ["reservations.renew", { version: mine.version + 1 }, "CONFLICT"],
      ["reservations.extend", {}, "INVALID_INPUT"],
      ["reservations.extend", { end: -1 }, "INVALID_INPUT"],
      ["reservations.extend", { end: 1.5 }, "INVALID_INPUT"],
      ["reservations.extend", { end: "2h" }, "INVALID_INPUT"],
      ["reservations.extend", { end: mine.end - 1 }, "INVALID_INPUT"],
      ["reservations.extend", { end: now + 2 * HOUR + 1 }, "INVALID_INPUT"],
      ["reservations.extend", { end: 2 ** 47 }, "INVALID_INPUT"],
      ["reservations.extend", { end: 2 ** 47 + 1 }, "INVALID_INPUT"],
      ["reservations.extend", { end: mine.end + 1, version: 7 }, "CONFLICT"],
      ["reservations.release", { version: 7 }, "CONFLICT"],
    ];
    for (const [method, input, code] of refused) {
      const answer = await send(method, input);
      expect([method, input, answer.body["code"]]).toEqual([method, input, code]);
      expect(await read(a, mine.id)).toEqual(mine);
    }
    await expectConsistent(server, fleet);
    await clock().advance(30 * SECOND);
    expect((await renew(a, mine.id)).leaseExpiresAt).toBe(now + 90 * SECOND);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("without a lease there is nothing to renew", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const mine = await bookGpus(a, 1);
    expect((await refusal(renew(a, mine.id))).code).toBe("INVALID_STATE");
    expect(await read(a, mine.id)).toEqual(mine);
    await expectEmptyAfterRelease(server, fleet);
  });
});

function extend({ berth, tenantId }: Asker, reservationId: string, end: number) {
  return berth.reservations.extend({ tenantId, reservationId, end });
}
