/** Windows are half-open, and what counts is the most that is held at one instant. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import {
  type Asker,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  SECOND,
  asker,
  bookGpus,
  gpuRequest,
  outcome,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease, gpuRow } from "./invariants.ts";

/** A whole hour with room before it. */
const T = NOW + DAY;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
});
afterAll(() => server.stop());

interface Window {
  readonly start: number;
  readonly duration: number;
}

const window = (start: number, end: number): Window => ({ start, duration: end - start });

async function bucketsOf(
  { berth, tenantId, poolId }: Asker,
  span: { from: number; to: number; stepMinutes: number },
): Promise<[start: number, booked: number, free: number][]> {
  const { buckets } = await berth.capacity.timeline({ tenantId, poolId, ...span });
  return buckets.map(({ start, booked, free }) => [start, booked, free]);
}

describe("a window beside a booking of the only GPU", () => {
  const base = window(T, T + HOUR);
  const touching = { before: window(T - HOUR, T), after: window(T + HOUR, T + 2 * HOUR) };
  const overlapping = {
    same: base,
    inside: window(T + 10 * MINUTE, T + 20 * MINUTE),
    "at its head, inside": window(T, T + SECOND),
    "at its tail, inside": window(T + HOUR - SECOND, T + HOUR),
    enclosing: window(T - 10 * MINUTE, T + HOUR + 10 * MINUTE),
    "over its head by 1 ms": window(T - HOUR, T + 1),
    "over its tail by 1 ms": window(T + HOUR - 1, T + 2 * HOUR),
  };

  let fleet: Fleet;
  let a: Asker;
  let b: Asker;
  beforeAll(async () => {
    fleet = await server.fleet(pool(1, 1));
    a = await asker(server, "t-a", fleet);
    b = await asker(server, "t-b", fleet);
  });

  const fits = async (at: Window) => (await b.berth.capacity.preview(gpuRequest(b, 1, at))).fits;

  it.each(Object.entries(overlapping))(
    "is refused when it is %s, and fits alone",
    async (_, at) => {
      const held = await bookGpus(a, 1, base);
      expect(await fits(at)).toBe(false);
      expect((await refusal(bookGpus(b, 1, at))).code).toBe("NO_CAPACITY");
      await release(a, held);
      expect(await fits(at)).toBe(true);
      const alone = await bookGpus(b, 1, at);
      expect(alone).toMatchObject({ start: at.start, end: at.start + at.duration });
      await expectEmptyAfterRelease(server, fleet);
    },
  );

  it("is granted when it only touches it, on either side and on both", async () => {
    await bookGpus(a, 1, base);
    for (const at of Object.values(touching)) {
      expect(await fits(at)).toBe(true);
      const beside = await bookGpus(b, 1, at);
      expect(beside).toMatchObject({ start: at.start, end: at.start + at.duration });
    }
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 0, reserved: 1 });
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a bucket of the timeline", () => {
  it("counts every booking that overlaps it, and none that ends or starts at its edge", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(a, 2, window(T + HOUR, T + 2 * HOUR));
    await bookGpus(a, 1, window(T - 5 * HOUR, T + 20 * HOUR));
    await bookGpus(a, 1, window(T + 4 * HOUR, T + 5 * HOUR));
    await bookGpus(a, 1, window(T - HOUR, T));
    await bookGpus(a, 1, window(T + 3 * HOUR - SECOND, T + 3 * HOUR));
    const span = { from: T, to: T + 4 * HOUR, stepMinutes: 60 };
    expect(await bucketsOf(a, span)).toEqual([
      [T, 1, 7],
      [T + HOUR, 3, 5],
      [T + 2 * HOUR, 2, 6],
      [T + 3 * HOUR, 1, 7],
    ]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("counts a GPU once, however many bookings follow each other on it", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(a, 1, window(T, T + 30 * MINUTE));
    await bookGpus(a, 1, window(T + 30 * MINUTE, T + HOUR));
    const span = { from: T, to: T + HOUR, stepMinutes: 60 };
    expect(await bucketsOf(a, span)).toEqual([[T, 1, 0]]);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("is cut at the end of the span, and what begins there is not in it", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(a, 1, window(T + 90 * MINUTE, T + 2 * HOUR));
    const span = { from: T, to: T + 90 * MINUTE, stepMinutes: 60 };
    expect(await bucketsOf(a, span)).toEqual([
      [T, 0, 1],
      [T + HOUR, 0, 1],
    ]);
    expect(await bucketsOf(a, { ...span, to: T + 90 * MINUTE + 1 })).toEqual([
      [T, 0, 1],
      [T + HOUR, 1, 0],
    ]);
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("bookings one after the other", () => {
  it("are not added up: what is free throughout is free, and no more", async () => {
    const fleet = await server.fleet(pool(1, 10));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    for (const hour of [0, 1, 2]) {
      await bookGpus(a, 7, window(T + hour * HOUR, T + (hour + 1) * HOUR));
    }
    const whole = window(T, T + 3 * HOUR);
    expect((await refusal(bookGpus(b, 4, whole))).code).toBe("NO_CAPACITY");
    const through = await bookGpus(b, 3, whole);
    expect(new Set(unitsOf(through)).size).toBe(3);
    await expectConsistent(server, fleet);

    const now = await bookGpus(a, 10, { duration: "10m" });
    expect(new Set(unitsOf(now)).size).toBe(10);
    expect(await gpuRow(server, fleet)).toMatchObject({
      allocated: 10,
      reserved: 10,
      available: 0,
    });
    const between = await bookGpus(b, 3, window(NOW + 15 * MINUTE, T));
    expect(between.state).toBe("scheduled");
    await expectEmptyAfterRelease(server, fleet);
  });

  it("hide no full instant: a window that is free at both ends is refused for its middle", async () => {
    const fleet = await server.fleet(pool(1, 2));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(a, 2, window(T + 90 * MINUTE, T + 91 * MINUTE));
    const long = window(T, T + 3 * HOUR);
    const preview = await a.berth.capacity.preview(gpuRequest(a, 1, long));
    expect(preview).toMatchObject({
      fits: false,
      reason: { code: "BUSY", blocked: [{ cause: "BUSY", nodes: 1 }] },
      earliestStart: T + 91 * MINUTE,
    });
    expect((await refusal(bookGpus(a, 1, long))).code).toBe("NO_CAPACITY");
    expect(await outcome(bookGpus(a, 1, window(T, T + 90 * MINUTE)))).toBe("OK");
    expect(await outcome(bookGpus(a, 1, window(T + 91 * MINUTE, T + 3 * HOUR)))).toBe("OK");
    await expectEmptyAfterRelease(server, fleet);
  });

  it("fit a quota that their sum would pass: its use is their peak", async () => {
    const fleet = await server.fleet(pool(1, 10, { offers: { "t-a": { gpu: 7 } } }));
    const a = await asker(server, "t-a", fleet);
    for (const hour of [0, 1, 2]) {
      await bookGpus(a, 7, window(T + hour * HOUR, T + (hour + 1) * HOUR));
    }
    const over = await refusal(bookGpus(a, 1, window(T + HOUR, T + 2 * HOUR)));
    expect(over).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { resource: "gpu", max: 7, peak: 7, requested: 1 },
    });
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("extending a booking", () => {
  it("into another tenant's is refused and changes neither; up to it, and after it is gone, is granted", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 1, { start: T, duration: HOUR, leaseSeconds: 600 });
    const theirs = await bookGpus(b, 1, window(T + HOUR, T + 2 * HOUR));
    const extend = (end: number) =>
      a.berth.reservations.extend({ tenantId: "t-a", reservationId: mine.id, end });

    const refused = await refusal(extend(T + 90 * MINUTE));
    expect(refused).toMatchObject({
      code: "NO_CAPACITY",
      details: { latestEnd: T + HOUR, reason: { code: "BUSY" } },
    });
    const read = (of: Asker, reservationId: string) =>
      of.berth.reservations.get({ tenantId: of.tenantId, reservationId });
    expect(await read(a, mine.id)).toEqual(mine);
    expect(await read(b, theirs.id)).toEqual(theirs);
    const span = { from: T, to: T + 2 * HOUR, stepMinutes: 60 };
    expect(await bucketsOf(a, span)).toEqual([
      [T, 1, 0],
      [T + HOUR, 1, 0],
    ]);

    expect(await extend(T + HOUR)).toEqual(mine);
    await expectConsistent(server, fleet);
    await release(b, theirs);
    expect(await extend(T + 90 * MINUTE)).toMatchObject({
      id: mine.id,
      end: T + 90 * MINUTE,
      version: mine.version + 1,
      members: mine.members,
    });
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of a running lease goes to the very instant at which the next one begins", async () => {
    const fleet = await server.fleet(pool(1, 1));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const mine = await bookGpus(a, 1, { leaseSeconds: 3_600 });
    await bookGpus(b, 1, window(NOW + 2 * HOUR, NOW + 3 * HOUR));
    const extend = (end: number) =>
      a.berth.reservations.extend({ tenantId: "t-a", reservationId: mine.id, end });
    expect((await refusal(extend(NOW + 2 * HOUR + 1))).code).toBe("NO_CAPACITY");
    expect(await extend(NOW + 2 * HOUR)).toMatchObject({ state: "active", end: NOW + 2 * HOUR });
    await expectEmptyAfterRelease(server, fleet);
  });
});
