import { createDecipheriv, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApi } from "../../root.ts";
import { BookingApi, HOUR, NOW } from "../test-kit.ts";

let api: BookingApi;
beforeAll(async () => {
  api = await BookingApi.open();
});
afterAll(() => api.close());

const OWNER = { tenantId: "t-own" } as const;

describe("pools.create", () => {
  const ask = (given = {}) => ({ ...OWNER, siteId: api.siteId, class: "metal-host", ...given });

  it("answers version 1 with the owner's quota and an empty rollup", async () => {
    const pool = await api.call("pools.create", ask({ policy: { label: "first" } }));
    expect(pool).toMatchObject({
      tenantId: "t-own",
      version: 1,
      sharing: "exclusive",
      agent: "bcd",
      label: "first",
      owned: true,
      archived: false,
      quota: [{ resource: "gpu", max: 2_147_483_647, used: 0, remaining: null }],
      offer: null,
      offers: [],
      createdAt: NOW,
    });
    expect(await api.call("pools.capacity", { ...OWNER, poolId: pool.id })).toEqual({
      poolId: pool.id,
      capacity: [],
    });
    expect(await api.events("t-own", pool.id)).toEqual(["pool.created"]);
  });

  it("with a key answers the same pool again, and CONFLICT for another pool under it", async () => {
    const keyed = ask({ idempotencyKey: "pool/1~a=b+c" });
    const first = await api.call("pools.create", keyed);
    expect(first.id).toMatch(/^pool_[0-9a-hjkmnp-tv-z]{52}$/);
    expect(await api.call("pools.create", { ...keyed, gpuModel: "B200" })).toEqual(first);
    const site = { ...OWNER, name: "other", region: "eu-1" };
    const { id: siteId } = await api.call("fleet.putSite", site);
    const { id: providerAccountId } = await api.call("fleet.putProviderAccount", {
      ...OWNER,
      name: "acct",
      kind: "cloud",
    });
    for (const other of [
      { siteId },
      { class: "vps-host" },
      { sharing: "mig" },
      { agent: "none" },
      { class: "provider", providerAccountId },
    ])
      expect(await api.error("pools.create", { ...keyed, ...other })).toMatchObject({
        code: "CONFLICT",
        details: { kind: "key", ids: [first.id], plan: null },
      });
    expect((await api.seen(first.id, "t-own")).version).toBe(1);
    const theirs = await api.error("pools.create", { ...keyed, tenantId: "t-a" });
    expect(theirs.code).toBe("NOT_FOUND");
    const rented = ask({ class: "provider", providerAccountId, idempotencyKey: "rented" });
    const { id } = await api.call("pools.create", rented);
    const another = { providerAccountId: `pacct_${"0".repeat(26)}` };
    expect(await api.error("pools.create", { ...rented, ...another })).toMatchObject({
      code: "CONFLICT",
      details: { kind: "key", ids: [id], plan: null },
    });
  });

  it("makes one pool of twenty calls at once with one key", async () => {
    const keyed = ask({ idempotencyKey: "at-once" });
    const made = await Promise.all(
      Array.from({ length: 20 }, () => api.call("pools.create", keyed)),
    );
    expect(new Set(made.map((pool) => pool.id)).size).toBe(1);
    expect(new Set(made.map((pool) => pool.version))).toEqual(new Set([1]));
  });

  it("is NOT_FOUND on a site or provider account of somebody else", async () => {
    const stranger = { tenantId: "t-a" };
    expect((await api.error("pools.create", ask(stranger))).code).toBe("NOT_FOUND");
    const { id } = await api.call("fleet.putProviderAccount", {
      ...stranger,
      name: "acct",
      kind: "cloud",
    });
    const provider = ask({ class: "provider", providerAccountId: id });
    expect((await api.error("pools.create", provider)).code).toBe("NOT_FOUND");
  });

  it("makes a provider pool without an agent", async () => {
    const account = { ...OWNER, name: "rented", kind: "cloud" };
    const { id: providerAccountId } = await api.call("fleet.putProviderAccount", account);
    const pool = await api.call("pools.create", ask({ class: "provider", providerAccountId }));
    expect(pool).toMatchObject({ agent: "none", providerAccountId });
  });

  it.each([
    [{ class: "provider" }, ["providerAccountId"]],
    [{ policy: { migLayout: { L40S: ["1g.5gb"] } } }, ["policy", "migLayout", "L40S"]],
    [{ policy: { maxDuration: "0h" } }, ["policy", "maxDuration"]],
    [{ policy: { color: 1 } }, ["policy", "color"]],
  ])("refuses %o by its field", async (given, path) => {
    const { code, issues } = await api.error("pools.create", ask(given));
    expect(code).toBe("INVALID_INPUT");
    expect(issues?.map((issue) => issue.path)).toContainEqual(path);
  });
});

describe("a cluster's token", () => {
  const kubernetes = { endpoint: "https://k8s", token: "join-secret", caHash: "sha256:0" };

  it("is refused while the server has no key to seal it with, naming the setting", async () => {
    const input = { ...OWNER, siteId: api.siteId, class: "metal-host", policy: { kubernetes } };
    const { code, message } = await api.error("pools.create", input);
    expect(code).toBe("INVALID_STATE");
    expect(message).toContain("BERTH_SEAL_KEY");
  });

  it("is stored sealed for its pool, never answered, and dropped with its set", async () => {
    const sealKey = randomBytes(32);
    const { deps, database, admin } = api.test;
    const sealing = createApi({ ...deps, options: { ...deps.options, sealKey } });
    const call = async (method: "pools.create" | "pools.update", input: object) =>
      (await sealing.invoke({
        method,
        rawInput: () => Promise.resolve(input),
        context: sealing.context({ token: admin, requestId: "r" }),
      })) as { id: string };
    const created = await call("pools.create", {
      ...OWNER,
      siteId: api.siteId,
      class: "metal-host",
      policy: { kubernetes },
    });
    expect(created).toMatchObject({ policy: { kubernetes: { tokenSet: true } } });
    expect(JSON.stringify(created)).not.toContain("join-secret");

    const stored = async (): Promise<Uint8Array | null | undefined> => {
      const [row] = await database.sql<{ token: Uint8Array | null }[]>`
        select kubernetes_token as token from pools where id = ${created.id}`;
      return row?.token;
    };
    const sealed = Buffer.from((await stored()) ?? []);
    const opened = createDecipheriv("aes-256-gcm", sealKey, sealed.subarray(0, 12))
      .setAAD(Buffer.from(created.id))
      .setAuthTag(sealed.subarray(12, 28));
    const token = Buffer.concat([opened.update(sealed.subarray(28)), opened.final()]).toString();
    expect(token).toBe("join-secret");

    const poolId = created.id;
    await call("pools.update", { ...OWNER, poolId, gpuModel: "H100" });
    expect(Buffer.from((await stored()) ?? [])).toEqual(sealed);
    await call("pools.update", { ...OWNER, poolId, policy: {} });
    expect(await stored()).toBeNull();
    await api.test.database.feedCaughtUp();
    expect(JSON.stringify(await api.call("events.list", { ...OWNER, poolId }))).not.toContain(
      "join-secret",
    );
    await sealing.stop();
  });
});

describe("pools.offer and pools.unoffer", () => {
  it("shrink a quota to what is in use, let giving back always work, and withdraw at once", async () => {
    const poolId = await api.pool(1, 8, { quota: 4 });
    const three = await api.book(poolId, 3);
    const offer = { ...OWNER, poolId, toTenantId: "t-a" };
    const seen = await api.call("pools.offer", { ...offer, quota: { gpu: 1 } });
    expect(seen).toMatchObject({
      owned: false,
      offers: null,
      quota: [{ resource: "gpu", max: 3, used: 3, remaining: null }],
      offer: { includeDescendants: false, priority: 0 },
    });
    const more = await api.error("reservations.create", api.wish(poolId, 1));
    expect(more).toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { max: 3, peak: 3, requested: 1 },
    });
    await api.release(three);
    const one = await api.book(poolId, 1);

    expect(await api.call("pools.unoffer", offer)).toEqual({ removed: true });
    expect(await api.call("pools.unoffer", offer)).toEqual({ removed: false });
    const told = (await api.events("t-own", poolId)).filter((type) => type === "pool.unoffered");
    expect(told).toHaveLength(1);

    const guest = { tenantId: "t-a", poolId };
    for (const method of [
      "pools.get",
      "pools.capacity",
      "capacity.byPool",
      "capacity.timeline",
    ] as const)
      expect((await api.error(method, guest)).code).toBe("NOT_FOUND");
    for (const method of ["reservations.create", "capacity.preview", "reservations.quote"] as const)
      expect((await api.error(method, api.wish(poolId, 1))).code).toBe("NOT_FOUND");
    const { pools } = await api.call("pools.list", { tenantId: "t-a" });
    expect(pools.map((pool) => pool.id)).not.toContain(poolId);

    const mine = { tenantId: "t-a", reservationId: one.id };
    expect((await api.call("reservations.get", mine)).state).toBe("active");
    const longer = { ...mine, end: one.end + HOUR };
    expect((await api.error("reservations.extend", longer)).code).toBe("INVALID_STATE");
    expect((await api.seen(poolId, "t-b")).quota[0]?.max).toBe(4);
    expect((await api.call("reservations.release", mine)).state).toBe("released");

    const again = await api.call("pools.offer", { ...offer, quota: { gpu: 7 } });
    expect(again.quota).toEqual([{ resource: "gpu", max: 7, used: 0, remaining: null }]);
    await api.capacityAgrees(poolId);
  });

  it("leave the owner's pool version alone and are told only to those whom they concern", async () => {
    const poolId = await api.pool(0, 0);
    expect((await api.seen(poolId, "t-own")).version).toBe(1);
    expect(await api.events("t-a", poolId)).toEqual(["pool.offered"]);
    await api.test.database.feedCaughtUp();
    const { events } = await api.call("events.list", { tenantId: "t-a", poolId });
    expect(JSON.stringify(events)).not.toMatch(/t-b|t-c|t-own/);
  });

  it("refuse unknown tenants, and the owner as one to unoffer, by the field", async () => {
    const poolId = await api.pool(0, 0);
    const to = (toTenantId: string) => ({ ...OWNER, poolId, toTenantId });
    for (const error of [
      await api.error("pools.offer", { ...to("t-nobody"), quota: {} }),
      await api.error("pools.unoffer", to("t-own")),
    ])
      expect(error).toMatchObject({ code: "INVALID_INPUT", issues: [{ path: ["toTenantId"] }] });
  });

  it("do not exist for a tenant that is not the owner, as for a pool that is not there", async () => {
    const poolId = await api.pool(0, 0);
    const nowhere = `pool_${"z".repeat(26)}`;
    for (const [method, rest] of [
      ["pools.offer", { toTenantId: "t-b", quota: {} }],
      ["pools.unoffer", { toTenantId: "t-b" }],
      ["pools.update", { gpuModel: "x" }],
      ["pools.archive", {}],
    ] as const) {
      const theirs = await api.error(method, { tenantId: "t-a", poolId, ...rest });
      expect(theirs.code).toBe("NOT_FOUND");
      expect(await api.error(method, { tenantId: "t-a", poolId: nowhere, ...rest })).toEqual(
        theirs,
      );
    }
  });

  it("with descendants show a child the pool and only what remains of its parent's rows", async () => {
    await api.call("fleet.putTenant", { tenantId: "t-a-child", parentId: "t-a" });
    const poolId = await api.pool(1, 8);
    const child = { tenantId: "t-a-child", poolId };
    expect((await api.error("pools.get", child)).code).toBe("NOT_FOUND");
    await api.call("pools.offer", {
      ...OWNER,
      poolId,
      toTenantId: "t-a",
      quota: { gpu: 5 },
      includeDescendants: true,
    });
    const booked = await api.book(poolId, 3, child);
    expect(booked.tenantId).toBe("t-a-child");
    expect((await api.seen(poolId, "t-a-child")).quota).toEqual([
      { resource: "gpu", max: null, used: null, remaining: 2 },
    ]);
    expect((await api.seen(poolId, "t-a")).quota[0]).toMatchObject({ max: 5, used: 3 });
    const over = await api.error("reservations.create", api.wish(poolId, 3, child));
    expect(over.details).toMatchObject({ remaining: 2, requested: 3, max: null, peak: null });
  });
});

describe("pools.update", () => {
  it("holds two updates of different fields made at once, twenty versions of twenty", async () => {
    const poolId = await api.pool(0, 0);
    const ask = { ...OWNER, poolId };
    await Promise.all([
      api.call("pools.update", { ...ask, gpuModel: "m2" }),
      api.call("pools.update", { ...ask, policy: { prewarmImages: ["img"] } }),
    ]);
    expect(await api.seen(poolId, "t-own")).toMatchObject({
      gpuModel: "m2",
      policy: { prewarmImages: ["img"] },
      version: 3,
    });
    const updated = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        api.call("pools.update", { ...ask, gpuModel: `m-${i}` }),
      ),
    );
    expect(new Set(updated.map((pool) => pool.version)).size).toBe(20);
    expect((await api.seen(poolId, "t-own")).version).toBe(23);
    const told = (await api.events("t-own", poolId)).filter((type) => type === "pool.updated");
    expect(told).toHaveLength(22);
  });

  it("replaces the policy as a whole, hides the host's parts from guests, needs a field", async () => {
    const poolId = await api.pool(0, 0);
    const ask = { ...OWNER, poolId };
    await api.call("pools.update", { ...ask, policy: { label: "a", kernelModules: ["vfio"] } });
    expect((await api.seen(poolId, "t-a")).policy).toEqual({ label: "a" });
    await api.call("pools.update", { ...ask, policy: { placement: "spread" } });
    expect((await api.seen(poolId, "t-own")).policy).toEqual({ placement: "spread" });
    expect((await api.error("pools.update", ask)).code).toBe("INVALID_INPUT");
  });

  it("never lets singleTenant and a second offer both in", async () => {
    for (let round = 0; round < 5; round += 1) {
      const poolId = await api.pool(0, 0);
      const ask = { ...OWNER, poolId };
      for (const toTenantId of ["t-b", "t-c"])
        await api.call("pools.unoffer", { ...ask, toTenantId });
      const [single, second] = await Promise.all([
        api.outcome("pools.update", { ...ask, policy: { singleTenant: true } }),
        api.outcome("pools.offer", { ...ask, toTenantId: "t-b", quota: { gpu: 1 } }),
      ]);
      expect([single.code, second.code].sort()).toEqual(["INVALID_STATE", "OK"]);
    }
  });

  it("raises the site's desired generation when the images to keep change, and only then", async () => {
    const poolId = await api.pool(0, 0);
    const desired = async () => {
      const { sites } = await api.call("fleet.listSites", OWNER);
      return sites.find((site) => site.id === api.siteId)?.desiredGen ?? -1;
    };
    const before = await desired();
    const update = (policy: object) => api.call("pools.update", { ...OWNER, poolId, policy });
    await update({ prewarmImages: ["a", "b"] });
    expect(await desired()).toBe(before + 1);
    await update({ prewarmImages: ["a", "b"], label: "x" });
    expect(await desired()).toBe(before + 1);
    await update({});
    expect(await desired()).toBe(before + 2);
  });
});

describe("pools.archive", () => {
  it("takes the pool from every guest, runs what is booked, takes no more, and is done once", async () => {
    const poolId = await api.pool(1, 8);
    const booked = await api.book(poolId, 2);
    const ask = { ...OWNER, poolId };
    const archived = await api.call("pools.archive", ask);
    expect(archived).toMatchObject({ archived: true, offers: [], version: 2 });
    expect(await api.call("pools.archive", ask)).toEqual(archived);

    expect((await api.error("pools.get", { tenantId: "t-a", poolId })).code).toBe("NOT_FOUND");
    expect((await api.error("reservations.create", api.wish(poolId, 1))).code).toBe("NOT_FOUND");
    for (const method of ["reservations.create", "capacity.preview"] as const)
      expect((await api.error(method, api.wish(poolId, 1, OWNER))).code).toBe("INVALID_STATE");
    const offer = { ...ask, toTenantId: "t-a", quota: { gpu: 1 } };
    expect((await api.error("pools.offer", offer)).code).toBe("INVALID_STATE");
    expect((await api.error("pools.update", { ...ask, gpuModel: "x" })).code).toBe("INVALID_STATE");
    expect((await api.gpuRow(poolId)).allocated).toBe(2);
    const owned = await api.call("capacity.summary", OWNER);
    expect(owned.pools.find((pool) => pool.poolId === poolId)?.archived).toBe(true);
    expect((await api.release(booked)).state).toBe("released");

    await api.test.database.feedCaughtUp();
    const { events } = await api.call("events.list", { ...ask, limit: 200 });
    const told = events.filter((event) => event.type === "pool.archived");
    expect(told.map((event) => event.data)).toMatchObject([{ tenantIds: ["t-a", "t-b", "t-c"] }]);
    expect(await api.events("t-a", poolId)).not.toContain("pool.archived");
  });
});

describe("pools.list", () => {
  it("answers each tenant its own view", async () => {
    await api.pool(0, 0);
    const mine = await api.call("pools.list", OWNER);
    const theirs = await api.call("pools.list", { tenantId: "t-b" });
    expect(mine.pools.every((pool) => pool.owned && pool.offers !== null)).toBe(true);
    expect(theirs.pools.length).toBeGreaterThan(0);
    for (const pool of theirs.pools)
      expect(pool).toMatchObject({ owned: false, archived: false, offers: null });
    for (const { id } of theirs.pools)
      expect(theirs.pools.find((pool) => pool.id === id)).toEqual(await api.seen(id, "t-b"));
  });

  it("asks the database as often for many pools as for one", async () => {
    await api.call("fleet.putTenant", { tenantId: "t-many" });
    const one = { tenantId: "t-many" };
    const offer = async () => {
      const poolId = await api.pool(0, 0);
      const quota = { gpu: 1 };
      await api.call("pools.offer", { ...OWNER, poolId, toTenantId: "t-many", quota });
    };
    await offer();
    const before = await api.statements("pools.list", one);
    for (let more = 0; more < 4; more += 1) await offer();
    expect((await api.call("pools.list", one)).pools).toHaveLength(5);
    expect(await api.statements("pools.list", one)).toBe(before);
  });
});
