/** What is another tenant's is answered as what is nobody's, and ids of two tenants never meet in one call. */
import { AUTHORIZATION_MATRIX, type World, absentId, absentTenant } from "@berth/api/testing";
import { METHOD_NAMES, type MethodName } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "../harness.ts";
import { type Answer, answerOf, askOf, surfacesOf } from "./surfaces.ts";
import { type Worlds, rowsOf, twoWorlds } from "./worlds.ts";

let worlds: Worlds;
let own: World;
let other: World;
beforeAll(async () => {
  worlds = await twoWorlds();
  ({ own, other } = worlds);
});
afterAll(() => worlds.server.stop());

type Fields = Record<string, unknown>;
/** Ids of nobody, by the field that names the thing. */
const NOBODYS: Readonly<Record<string, (method: MethodName) => string>> = {
  tenantId: () => absentTenant(),
  poolId: () => absentId("pool"),
  siteId: () => absentId("site"),
  nodeId: () => absentId("node"),
  unitId: () => absentId("unit"),
  reservationId: (method) => absentId(method.startsWith("unitReservations.") ? "ursv" : "rsv"),
  maintenanceId: () => absentId("mnt"),
  keyId: () => absentId("key"),
};
const NAMES_NOTHING_HIDDEN = new Set(["fleet.putTenant", "fleet.putProviderAccount"]);
const METHODS = METHOD_NAMES.filter((method) => !NAMES_NOTHING_HIDDEN.has(method));

async function answers(method: MethodName, input: object, token: string): Promise<Answer[]> {
  const asks = surfacesOf(method).map((surface) => askOf(surface, method, input));
  return Promise.all(asks.map((ask) => answerOf(worlds.server.url, ask, token)));
}

const inputOf = (method: MethodName, world: World) =>
  AUTHORIZATION_MATRIX[method].input(world, "admin") as Fields;
const fieldsOf = (method: MethodName) =>
  Object.keys(NOBODYS).filter((field) => field in inputOf(method, other));

describe("one id of another tenant is answered as one of nobody, in status, headers, body and length", () => {
  it.each(METHODS)("%s", async (method) => {
    const token = own.tokens.admin ?? "";
    const foreign = inputOf(method, other);
    for (const field of fieldsOf(method)) {
      // All but the one id is the caller's own, where the call names a tenant at all.
      const base = field === "tenantId" ? foreign : { ...foreign, ...tenantOf(foreign, own) };
      const hidden = await answers(method, base, token);
      const absent = await answers(method, { ...base, [field]: NOBODYS[field]?.(method) }, token);
      expect([field, hidden]).toEqual([field, absent]);
      expect([field, hidden.map(({ code }) => code)]).toEqual([
        field,
        hidden.map(() => "NOT_FOUND"),
      ]);
    }
  });
});

const tenantOf = (input: Fields, { tenantId }: World) => ("tenantId" in input ? { tenantId } : {});

describe("ids of two tenants in one call are not found", () => {
  const mixed = METHODS.filter(
    (method) => "tenantId" in shapeOf(method) && Object.keys(shapeOf(method)).length > 1,
  );

  it.each(mixed)("%s", async (method) => {
    const before = await rowsOf(worlds, other);
    const token = own.tokens.admin ?? "";
    const mine = inputOf(method, own);
    const theirs = inputOf(method, other);
    const theirTenant = { ...mine, tenantId: other.tenantId };
    const things = fieldsOf(method).filter((field) => field !== "tenantId");
    const inputs = [theirTenant, ...things.map((field) => ({ ...mine, [field]: theirs[field] }))];
    for (const input of inputs)
      for (const { code } of await answers(method, input, token))
        expect([input, code]).toEqual([input, "NOT_FOUND"]);
    expect(await rowsOf(worlds, other)).toEqual(before);
  });

  /** A stand-in before the worlds are made: only which fields there are counts. */
  function shapeOf(method: MethodName): object {
    const none = { setAside: { freeUnitIds: [] } } as unknown as World;
    return AUTHORIZATION_MATRIX[method].input(none, "admin");
  }
});

describe("a cursor of another tenant's list", () => {
  const page = async (method: MethodName, world: World, more: object = {}) => {
    const { body } = await worlds.server.http(method, { tenantId: world.tenantId, ...more });
    return body as Record<string, readonly { readonly id: string }[]> & { nextCursor: string };
  };

  it("is none of one's own reservations'", async () => {
    const { nextCursor } = await page("reservations.list", other, { limit: 1 });
    expect(nextCursor).toEqual(expect.any(String));
    const input = { tenantId: own.tenantId, cursor: nextCursor };
    for (const { code } of await answers("reservations.list", input, own.tokens.viewer ?? ""))
      expect(code).toBe("INVALID_INPUT");
  });

  it.each([
    ["fleet.listNodes", "cursor", "nodes"],
    ["access.audit", "after", "entries"],
    ["events.list", "after", "events"],
  ] as const)("shows nothing of theirs in one's own %s", async (method, field, list) => {
    const { nextCursor } = await page(method, other, { limit: 1 });
    expect(nextCursor).toEqual(expect.any(String));
    const mine = await page(method, own, { limit: 200 });
    const ids = new Set((mine[list] ?? []).map(({ id }) => id));
    const input = { tenantId: own.tenantId, [field]: nextCursor };
    for (const { code, text } of await answers(method, input, own.tokens.admin ?? "")) {
      expect(code).toBe("OK");
      expect(text).not.toContain("CANARY-b-END");
      const { [list]: shown } = (
        "result" in JSON.parse(text) ? JSON.parse(text).result.data.json : JSON.parse(text)
      ) as typeof mine;
      expect((shown ?? []).filter(({ id }) => !ids.has(id))).toEqual([]);
    }
  });

  it("is a place to watch one's own from, and from there one's own only", async () => {
    const { nextCursor: lastEventId } = await page("events.list", other, { limit: 1 });
    const { tenantId } = own;
    const client = await worlds.server.as(tenantId, "tenant-viewer");
    const put = async (name: string, of: string) =>
      worlds.server.http("fleet.putSite", { tenantId: of, name, region: "eu-1" });
    await put("CANARY-b-END", other.tenantId);
    await put("last", tenantId);
    for await (const event of client.reservations.watch({ tenantId, lastEventId })) {
      expect(event.tenantId).toBe(tenantId);
      if (event.type === "site.put" && event.data.name === "last") break;
    }
  });
});

describe("in a call that is the caller's own otherwise", () => {
  const booking = (selector: object) => ({
    tenantId: own.tenantId,
    poolId: own.poolId,
    devices: [{ class: "gpu", count: 1, selector }],
    duration: "1h",
    idempotencyKey: "mixed",
  });
  const cases: readonly [string, MethodName, (theirs: World) => object][] = [
    [
      "a pool to put nodes in",
      "fleet.putNodes",
      ({ poolId }) => ({ siteId: own.siteId, poolId, nodes: [{ name: "x" }] }),
    ],
    [
      "a pool to move a node to",
      "fleet.assignNode",
      ({ poolId }) => ({ nodeId: own.nodeId, poolId }),
    ],
    [
      "a site to make a pool on",
      "pools.create",
      ({ siteId }) => ({ tenantId: own.tenantId, siteId, class: "metal-host" }),
    ],
    ["a unit to preview", "capacity.preview", ({ unitId }) => booking({ unitIds: [unitId] })],
    ["a unit to ask about", "reservations.quote", ({ unitId }) => booking({ unitIds: [unitId] })],
    ["a unit to book", "reservations.create", ({ unitId }) => booking({ unitIds: [unitId] })],
    [
      "a pool to list nodes of",
      "fleet.listNodes",
      ({ poolId }) => ({ tenantId: own.tenantId, poolId }),
    ],
    [
      "a site to list nodes of",
      "fleet.listNodes",
      ({ siteId }) => ({ tenantId: own.tenantId, siteId }),
    ],
    [
      "a pool to list reservations of",
      "reservations.list",
      ({ poolId }) => ({ tenantId: own.tenantId, poolId }),
    ],
    [
      "a pool to list events of",
      "events.list",
      ({ poolId }) => ({ tenantId: own.tenantId, poolId }),
    ],
    [
      "a reservation to list events of",
      "events.list",
      ({ reservationId }) => ({ tenantId: own.tenantId, reservationId }),
    ],
    [
      "a pool to narrow a key to",
      "access.createKey",
      ({ poolId }) => ({
        tenantId: own.tenantId,
        role: "tenant-viewer",
        name: "n",
        scope: { poolIds: [poolId] },
      }),
    ],
  ];

  it.each(cases)("another tenant's is as nobody's: %s (%s)", async (_name, method, input) => {
    const before = await rowsOf(worlds, other);
    const token = own.tokens.admin ?? "";
    const theirs = await answers(method, input(other), token);
    const nobodys = await answers(method, input(worlds.absent), token);
    expect(theirs.map(comparable)).toEqual(nobodys.map(comparable));
    expect(await rowsOf(worlds, other)).toEqual(before);
  });

  it("another tenant's provider account is as nobody's", async () => {
    const account = await worlds.server.http("fleet.putProviderAccount", {
      tenantId: other.tenantId,
      name: "cloud CANARY-b-END",
      kind: "any",
    });
    const input = (providerAccountId: unknown) => ({
      tenantId: own.tenantId,
      siteId: own.siteId,
      class: "provider",
      agent: "none",
      providerAccountId,
    });
    const token = own.tokens.admin ?? "";
    const theirs = await answers("pools.create", input(account.body["id"]), token);
    const nobodys = await answers("pools.create", input(absentId("pacct")), token);
    expect(theirs).toEqual(nobodys);
    expect(theirs.map(({ code }) => code)).toEqual(["NOT_FOUND", "NOT_FOUND"]);
  });

  it("and those calls do what they say where all is the caller's own", async () => {
    const codes: string[] = [];
    for (const [, method, input] of cases) {
      // A node with bookings that have begun stays where it is, and its pool is where it is.
      const [answer] = await answers(method, input(own), ADMIN_KEY);
      codes.push(`${method} ${answer?.code}`);
    }
    expect(codes.filter((code) => code.endsWith("NOT_FOUND"))).toEqual([]);
  });

  /** What was asked for comes back in some answers, and what is made there has an id and a time of its own. */
  function comparable({ status, code, headers, text }: Answer): object {
    const length = headers.find(([name]) => name === "content-length");
    return {
      status,
      code,
      length,
      text: text
        .replaceAll(/\b(?:pool|key|rsv|unit|node|site)_\w+/g, "ID")
        .replaceAll(/\b1[0-9]{12}\b/g, "TIME")
        .replaceAll(/berth_\w+/g, "KEY"),
    };
  }
});
