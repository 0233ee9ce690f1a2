/** What a request may say, what it comes to in all, and how fast the impossible is answered. */
import type { BookingRequest } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../harness.ts";
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
  range,
  refusal,
  release,
  unitsOf,
} from "./asking.ts";
import { expectConsistent, expectEmptyAfterRelease, gpuRow, usedBy } from "./invariants.ts";

let server: TestServer;
const warnings: string[] = [];
const remember = ({ name }: Error) => void warnings.push(name);
beforeAll(async () => {
  process.on("warning", remember);
  server = await startServer({ clock: NOW });
});
afterAll(async () => {
  await server.stop();
  process.off("warning", remember);
});

function clock(): NonNullable<TestServer["clock"]> {
  if (!server.clock) throw new Error("the server's clock is stopped");
  return server.clock;
}

type Lines = BookingRequest["devices"];

const book = (a: Asker, devices: Lines) => bookGpus(a, 0, { devices });
const previewOf = (a: Asker, devices: Lines) =>
  a.berth.capacity.preview(gpuRequest(a, 0, { devices }));
const gpus = (...counts: number[]): Lines => counts.map((count) => ({ class: "gpu", count }));

describe("the lines of one request", () => {
  it("are one sum: what fits line by line and not together is refused", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    expect(await previewOf(a, gpus(5, 5))).toMatchObject({
      fits: false,
      candidates: [],
      reason: { code: "COUNT", blocked: [{ cause: "COUNT", nodes: 1 }] },
    });
    expect((await refusal(book(a, gpus(5, 5)))).code).toBe("NO_CAPACITY");
    expect((await previewOf(a, gpus(4, 4))).fits).toBe(true);
    expect(new Set(unitsOf(await book(a, gpus(4, 4)))).size).toBe(8);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("may be eight, not nine", async () => {
    const fleet = await server.fleet(pool(1, 8));
    const a = await asker(server, "t-a", fleet);
    const nine = gpus(1, 1, 1, 1, 1, 1, 1, 1, 1);
    for (const call of [previewOf, book]) {
      expect(await refusal(call(a, nine))).toMatchObject({
        code: "INVALID_INPUT",
        field: "devices",
      });
    }
    expect(new Set(unitsOf(await book(a, nine.slice(1)))).size).toBe(8);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("are one sum to the quota, too", async () => {
    const fleet = await server.fleet(pool(1, 8, { offers: { "t-a": { gpu: 6 } } }));
    const a = await asker(server, "t-a", fleet);
    expect(await refusal(book(a, gpus(4, 4)))).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { resource: "gpu", max: 6, peak: 0, requested: 8 },
    });
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("may name a class twice with another in between, and are one booking", async () => {
    const nodes = [node("with-vf", 8, { nics: [{ name: "ib0", vfs: 1 }] })];
    const fleet = await server.fleet(pool(1, 8, { nodes }));
    const a = await asker(server, "t-a", fleet);
    const lines: Lines = [
      { class: "gpu", count: 4 },
      { class: "nic.vf", count: 1 },
      { class: "gpu", count: 4 },
    ];
    expect((await previewOf(a, lines)).fits).toBe(true);
    const mine = await book(a, lines);
    const atoms = (mine.members ?? []).flatMap((member) => member.atoms);
    const indices = (unitClass: string) =>
      atoms.filter((atom) => atom.class === unitClass).map(({ index }) => index);
    expect(indices("gpu")).toEqual(range(8));
    expect(indices("nic.vf")).toEqual([0]);
    expect(new Set(unitsOf(mine)).size).toBe(9);
    const b = await asker(server, "t-b", fleet);
    expect((await refusal(book(b, [{ class: "nic.vf", count: 1 }]))).code).toBe("NO_CAPACITY");
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("GPUs that are to share an NVLink domain", () => {
  it("are not scraped together from two: the refusal names NVLink, not a want of GPUs", async () => {
    const whole = node("two-domains", 16);
    const gpusOfNode = (whole.gpus ?? []).map((gpu) => ({
      ...gpu,
      nvlinkDomain: gpu.index < 8 ? "g0" : "g1",
    }));
    const nodes = [{ ...whole, gpus: gpusOfNode }];
    const fleet = await server.fleet(pool(1, 16, { nodes }));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const { tenantId, poolId } = a;
    const { nodes: seen } = await a.berth.fleet.listNodes({ tenantId, poolId });
    const units = (seen[0]?.units ?? []).toSorted((x, y) => x.index - y.index);
    const unitIds = (from: number, to: number) => units.slice(from, to).map(({ id }) => id);
    await book(b, [{ class: "gpu", count: 2, selector: { unitIds: unitIds(0, 2) } }]);
    await book(b, [{ class: "gpu", count: 6, selector: { unitIds: unitIds(8, 14) } }]);

    const eight = gpuRequest(a, 8, { topology: "nvlink-all" });
    const preview = await a.berth.capacity.preview(eight);
    expect(preview).toMatchObject({
      fits: false,
      reason: { code: "NVLINK", blocked: [{ cause: "NVLINK", nodes: 1 }] },
      earliestStart: NOW + HOUR,
    });
    expect(preview.reason?.message).toMatch(/nvlink/i);
    const refused = await refusal(a.berth.reservations.create(eight));
    expect(refused.code).toBe("NO_CAPACITY");
    expect(refused.reason).toEqual(preview.reason);
    expect(refused.details).toMatchObject({ earliestStart: NOW + HOUR });
    expect((await a.berth.capacity.preview(gpuRequest(a, 8))).fits).toBe(true);
    const six = await bookGpus(a, 6, { topology: "nvlink-all" });
    expect(unitsOf(six)).toEqual(unitIds(2, 8));
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("an absurd request", () => {
  let fleet: Fleet;
  let a: Asker;
  let token: string;
  beforeAll(async () => {
    fleet = await server.fleet(pool(1, 8));
    a = await asker(server, "t-a", fleet);
    token = await server.token("t-a");
  });

  /** What create says, after preview has said the same; `parts` is JSON, so it may say anything. */
  async function verdict(parts: string): Promise<string> {
    const [preview, create] = await Promise.all([
      send("capacity.preview", parts),
      send("reservations.create", parts),
    ]);
    const { code = "OK", issues = null } = create.body;
    expect([preview.status, preview.body["code"] ?? "OK"]).toEqual([create.status, code]);
    expect(preview.body["issues"] ?? null).toEqual(issues);
    if (create.status === 200) {
      expect(preview.body).toMatchObject({ fits: true, end: create.body["end"] });
      const reservationId = String(create.body["id"]);
      await a.berth.reservations.release({ tenantId: "t-a", reservationId });
    }
    return String(code);
  }

  let keys = 0;
  function send(method: string, parts: string) {
    keys += 1;
    const rest = { tenantId: "t-a", poolId: fleet.poolId, idempotencyKey: `absurd-${keys}` };
    const raw = `{${JSON.stringify(rest).slice(1, -1)},${parts}}`;
    return server.http(method, null, { token, raw });
  }

  const line = (count: string) => `"devices":[{"class":"gpu","count":${count}}],"duration":"1h"`;
  const lasting = (duration: string) =>
    `"devices":[{"class":"gpu","count":1}],"duration":${duration}`;
  const starting = (start: string, duration = '"1h"') => `${lasting(duration)},"start":${start}`;
  const leased = (seconds: string) => `${lasting('"2d"')},"leaseSeconds":${seconds}`;

  it.each(["0", "-1", "1.5", '"2"', "65", "1e308", "null", "true", "[1]", "-0.0001"])(
    "for a count of %s is INVALID_INPUT, from preview and create alike",
    async (count) => {
      expect(await verdict(line(count))).toBe("INVALID_INPUT");
    },
  );

  it.each([
    ...["0", "-1", "999", "1.5", "1e308", "-1e308", "null", "{}", String(2 ** 47 + 1)],
    ...['""', '"0h"', '"-1h"', '"1 fortnight"', '"NaN"', '"Infinity"', '"-Infinity"', '"1e308"'],
    ...['"999ms"', '"1.5h"', '"1y"', '"P1Y"', '"P1M"', '"P"', '"PT"', '" 1h"', '"1h "', '"+1h"'],
    ...[`"${"9".repeat(60)}w"`, `"${"9".repeat(400)}h"`, '"367d"', '"1H"', '"१h"'],
  ])("for a duration of %s is INVALID_INPUT, from preview and create alike", async (duration) => {
    expect(await verdict(lasting(duration))).toBe("INVALID_INPUT");
  });

  it.each(["NaN", "Infinity", "0x10", "01", "1_000"])(
    "for a duration of %s, which is no JSON, is INVALID_INPUT",
    async (duration) => {
      expect(await verdict(lasting(duration))).toBe("INVALID_INPUT");
    },
  );

  it.each([
    ["1000", "OK"],
    ['"1s"', "OK"],
    ['"366d"', "OK"],
    [String(366 * DAY), "OK"],
    [String(366 * DAY + 1), "INVALID_INPUT"],
  ])("is not one that lasts %s: %s", async (duration, code) => {
    expect(await verdict(lasting(duration))).toBe(code);
  });

  it.each([
    [String(2 ** 47), "INVALID_INPUT"],
    [String(2 ** 47 + 1), "INVALID_INPUT"],
    [String(2 ** 47 - 1), "INVALID_INPUT"],
    [String(2 ** 53), "INVALID_INPUT"],
    ["1e308", "INVALID_INPUT"],
    ["-1", "INVALID_INPUT"],
    ["0", "INVALID_INPUT"],
    ["1.5", "INVALID_INPUT"],
    [`"${NOW}"`, "INVALID_INPUT"],
    [String(NOW - HOUR), "INVALID_INPUT"],
    [String(NOW - MINUTE - 1), "INVALID_INPUT"],
    [String(NOW - MINUTE), "OK"],
    [String(NOW + 366 * DAY), "OK"],
    [String(NOW + 366 * DAY + 1), "INVALID_INPUT"],
  ])("that starts at %s is %s, from preview and create alike", async (start, code) => {
    expect(await verdict(starting(start))).toBe(code);
    expect(await usedBy(server, fleet, ["t-a", "gpu"])).toBe(0);
  });

  it("that would end past the end of time is INVALID_INPUT", async () => {
    expect(await verdict(starting(String(2 ** 47 - HOUR), '"2h"'))).toBe("INVALID_INPUT");
    expect(await verdict(starting(String(NOW), String(2 ** 47)))).toBe("INVALID_INPUT");
  });

  it("that started up to a minute ago starts now", async () => {
    const mine = await bookGpus(a, 1, { start: NOW - MINUTE });
    expect(mine).toMatchObject({ state: "active", start: NOW, end: NOW + HOUR });
    await release(a, mine);
  });

  it.each([
    ["29", "INVALID_INPUT"],
    ["86401", "INVALID_INPUT"],
    ["0", "INVALID_INPUT"],
    ["-30", "INVALID_INPUT"],
    ["30.5", "INVALID_INPUT"],
    ['"30"', "INVALID_INPUT"],
    ["30", "OK"],
    ["86400", "OK"],
  ])("with a lease of %s s is %s, from preview and create alike", async (seconds, code) => {
    expect(await verdict(leased(seconds))).toBe(code);
  });

  it("leaves nothing booked and nothing used", async () => {
    await expectEmptyAfterRelease(server, fleet);
  });
});

describe("a booking far ahead", () => {
  it("waits for its start to the millisecond, and the GPU is free until then", async () => {
    const fleet = await server.fleet(pool(1, 2));
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const read = (id: string) =>
      a.berth.reservations.get({ tenantId: "t-a", reservationId: id }).then(({ state }) => state);
    const now = await clock().now();
    const in30 = await bookGpus(a, 1, { start: now + 30 * DAY });
    const in60 = await bookGpus(a, 1, { start: now + 60 * DAY });
    const leased = await bookGpus(b, 1, { duration: "60d", leaseSeconds: 86_400 });
    await clock().advance(3 * SECOND);
    expect([await read(in30.id), await read(in60.id)]).toEqual(["scheduled", "scheduled"]);
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 1, reserved: 1 });
    const lease = await b.berth.reservations.get({ tenantId: "t-b", reservationId: leased.id });
    expect(lease.state).toBe("active");
    const meanwhile = await bookGpus(a, 1);
    expect(meanwhile.state).toBe("active");
    await expectConsistent(server, fleet);

    await clock().set(in30.start - 1);
    expect([await read(in30.id), await read(in60.id)]).toEqual(["scheduled", "scheduled"]);
    await clock().advance(1);
    expect([await read(in30.id), await read(in60.id)]).toEqual(["active", "scheduled"]);
    await clock().set(in60.start - 1);
    expect([await read(in30.id), await read(in60.id)]).toEqual(["completed", "scheduled"]);
    await clock().advance(1);
    expect([await read(in30.id), await read(in60.id)]).toEqual(["completed", "active"]);
    expect(warnings).not.toContain("TimeoutOverflowWarning");
    await expectEmptyAfterRelease(server, fleet);
  });
});

/** Milliseconds until the call has its answer. */
async function timed<T>(call: Promise<T>): Promise<{ ms: number; answer: T }> {
  const started = performance.now();
  const answer = await call;
  return { ms: performance.now() - started, answer };
}

describe("one more than there is", () => {
  it("of the 64 GPUs of one node is answered at once, and with the instant at which it fits", async () => {
    const fleet = await server.fleet(pool(1, 64));
    const a = await asker(server, "t-a", fleet);
    const held = await bookGpus(a, 1);
    const { ms, answer } = await timed(a.berth.capacity.preview(gpuRequest(a, 64)));
    expect(answer).toMatchObject({
      fits: false,
      reason: { code: "BUSY" },
      earliestStart: held.end,
    });
    expect(ms).toBeLessThan(1_000);
    expect((await a.berth.capacity.preview(gpuRequest(a, 63))).fits).toBe(true);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of a pool of eights is answered at once: no node ever has so many", async () => {
    const fleet = await server.fleet(pool(8, 8));
    const a = await asker(server, "t-a", fleet);
    await bookGpus(a, 1);
    const { ms, answer } = await timed(a.berth.capacity.preview(gpuRequest(a, 64)));
    expect(answer).toMatchObject({
      fits: false,
      reason: { code: "COUNT", blocked: [{ cause: "COUNT", nodes: 8 }] },
      earliestStart: null,
    });
    expect(ms).toBeLessThan(1_000);
    await expectEmptyAfterRelease(server, fleet);
  });

  it("of 200 nodes with scattered singles is answered at once, and nobody waits behind it", async () => {
    const fleet = await server.fleet(
      pool(200, 8, { offers: { "t-a": { gpu: 2_000 }, "t-b": {} } }),
    );
    const a = await asker(server, "t-a", fleet);
    const b = await asker(server, "t-b", fleet);
    const start = await clock().now();
    const held = await Promise.all(
      range(200).map((i) => bookGpus(a, 7, { start, duration: HOUR + (199 - i) * MINUTE })),
    );
    expect(await gpuRow(server, fleet)).toMatchObject({ allocated: 1_400, available: 200 });
    const nvlinked = gpuRequest(a, 2, { topology: "nvlink-all" });
    const [preview, list] = await Promise.all([
      timed(a.berth.capacity.preview(nvlinked)),
      timed(b.berth.pools.list({ tenantId: "t-b" })),
    ]);
    expect(preview.answer).toMatchObject({
      fits: false,
      reason: { code: "BUSY", blocked: [{ cause: "BUSY", nodes: 200 }] },
      earliestStart: Math.min(...held.map(({ end }) => end)),
    });
    expect(preview.ms).toBeLessThan(1_000);
    expect(list.ms).toBeLessThan(500);
    await expectEmptyAfterRelease(server, fleet);
  });
});
