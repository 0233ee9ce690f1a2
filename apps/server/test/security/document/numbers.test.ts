/** The largest numbers that may be sent, and the ones after them: they work or are refused, and never wrap. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Fleet,
  type HttpAnswer,
  type TestServer,
  node,
  pool,
  startServer,
} from "../../harness.ts";
import { NOW } from "./marks.ts";

const QUOTA_MAX = 2 ** 31 - 1;
const TIME_MAX = 2 ** 47;

let server: TestServer;
let fleet: Fleet;
let key = 0;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
  const nodes = [0, 1].map((at) => node(`n${at}`, 8, { vcpu: 4_096, memoryGiB: 65_536 }));
  fleet = await server.fleet(pool(2, 8, { nodes }));
});
afterAll(() => server.stop());

const offer = (more: object): Promise<HttpAnswer> =>
  server.http("pools.offer", {
    tenantId: fleet.owner,
    poolId: fleet.poolId,
    toTenantId: "t-a",
    quota: {},
    ...more,
  });
const book = (more: object): Promise<HttpAnswer> =>
  server.http("reservations.create", {
    tenantId: "t-a",
    poolId: fleet.poolId,
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
    idempotencyKey: `n-${key++}`,
    ...more,
  });
const refused = (path: (string | number)[]) => ({
  status: 400,
  body: {
    code: "INVALID_INPUT",
    issues: expect.arrayContaining([expect.objectContaining({ path })]),
  },
});

describe("quota", () => {
  it("of 2^31-1 is kept as it is, and a booking is counted in it", async () => {
    const given = { gpu: QUOTA_MAX, vcpu: QUOTA_MAX, memoryGiB: QUOTA_MAX };
    expect((await offer({ quota: given })).status).toBe(200);
    const made = await book({ resources: { vcpu: 4_096, memoryGiB: 65_536 } });
    expect(made.status).toBe(200);
    const seen = await server.http("pools.get", { tenantId: "t-a", poolId: fleet.poolId });
    const rows = seen.body["quota"] as { resource: string; max: number; used: number }[];
    const of = (name: string) => rows.find(({ resource }) => resource === name);
    expect(of("gpu")).toMatchObject({ max: QUOTA_MAX, used: 1 });
    expect(of("vcpu")).toMatchObject({ max: QUOTA_MAX, used: 4_096 });
    expect(of("memoryGiB")).toMatchObject({ max: QUOTA_MAX, used: 65_536 });
    await server.http("reservations.release", { tenantId: "t-a", reservationId: made.body["id"] });
    await server.expectHealthy();
  });

  it.each([QUOTA_MAX + 1, 2 ** 32, 2 ** 53, 1e308, -1])("of %d is refused", async (gpu) => {
    expect(await offer({ quota: { gpu } })).toMatchObject(refused(["quota", "gpu"]));
  });

  it.each([-1_000, 1_000])("priority %d is kept", async (priority) => {
    expect((await offer({ priority })).status).toBe(200);
    const seen = await server.http("pools.get", { tenantId: "t-a", poolId: fleet.poolId });
    expect(seen.body["offer"]).toMatchObject({ priority });
  });

  it.each([-1_001, 1_001, 2 ** 31])("priority %d is refused", async (priority) => {
    expect(await offer({ priority })).toMatchObject(refused(["priority"]));
  });
});

describe("time", () => {
  it.each([TIME_MAX, TIME_MAX - 1, 2 ** 46])("a start of %d is too far ahead", async (start) => {
    expect(await book({ start })).toMatchObject(refused(["start"]));
  });

  it.each([TIME_MAX + 1, 2 ** 53, -1])("a start of %d is no time", async (start) => {
    expect(await book({ start })).toMatchObject(refused(["start"]));
  });

  it.each([TIME_MAX, "9007199254740993ms", "99999999999999999999w", `P${"9".repeat(60)}W`])(
    "a duration of %s is too long",
    async (duration) => {
      expect(await book({ duration })).toMatchObject(refused(["duration"]));
      expect(await book({ duration, start: NOW + 1_000 })).toMatchObject(refused(["duration"]));
    },
  );

  it("an end at the end of time is refused, and the booking stays", async () => {
    const { body } = await book({});
    const ref = { tenantId: "t-a", reservationId: body["id"] };
    const extend = (end: number) => server.http("reservations.extend", { ...ref, end });
    expect(await extend(TIME_MAX)).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect(await extend(TIME_MAX + 1)).toMatchObject(refused(["end"]));
    expect((await server.http("reservations.get", ref)).body).toEqual(body);
    await server.http("reservations.release", ref);
  });

  it("maintenance up to the end of time is kept, and one past it is no time", async () => {
    const ask = { nodeId: fleet.nodeIds[1], from: NOW + 1_000 };
    const made = await server.http("fleet.scheduleMaintenance", { ...ask, to: TIME_MAX });
    expect(made.status).toBe(200);
    const seen = await server.http("fleet.getNode", { tenantId: fleet.owner, nodeId: ask.nodeId });
    expect(seen.body["maintenance"]).toEqual([
      { id: made.body["id"], from: ask.from, to: TIME_MAX },
    ]);
    await server.http("fleet.cancelMaintenance", { maintenanceId: made.body["id"] });
    expect(
      await server.http("fleet.scheduleMaintenance", { ...ask, to: TIME_MAX + 1 }),
    ).toMatchObject(refused(["to"]));
  });
});

describe("amounts", () => {
  const lines = Array.from({ length: 8 }, () => ({ class: "gpu", count: 64 }));

  it("eight lines of 64 for a gang of 64 are over the limit of a reservation", async () => {
    const { status, body } = await book({ devices: lines, gang: { size: 64 } });
    expect({ status, code: body["code"] }).toEqual({ status: 400, code: "INVALID_INPUT" });
    expect(body["message"]).toContain("32768");
  });

  it("the most units that a reservation may have are counted, and do not fit here", async () => {
    const quota = { gpu: QUOTA_MAX };
    await offer({ quota });
    const { status, body } = await book({ devices: lines, gang: { size: 8 } });
    expect({ status, code: body["code"] }).toEqual({ status: 409, code: "NO_CAPACITY" });
  });

  it("the largest machines add up", async () => {
    const { body } = await server.http("capacity.byPool", {
      tenantId: fleet.owner,
      poolId: fleet.poolId,
    });
    const rows = body["capacity"] as { resource: string; total: number }[];
    expect(rows.find(({ resource }) => resource === "memoryGiB")?.total).toBe(2 * 65_536);
    expect(rows.find(({ resource }) => resource === "vcpu")?.total).toBe(2 * 4_096);
  });

  it("a version of 2^53-1 is a stale one, and 2^53 is none", async () => {
    const set = (version: number) =>
      server.http("fleet.setNodeState", { nodeId: fleet.nodeIds[0], state: "ready", version });
    expect(await set(2 ** 53 - 1)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await set(2 ** 53)).toMatchObject(refused(["version"]));
  });
});
