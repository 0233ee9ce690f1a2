import { randomBytes } from "node:crypto";
import { METHOD_NAMES, catalog } from "@berth/contract";
import { freshId } from "@berth/domain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AUTHORIZATION_MATRIX } from "./testing/authorization-matrix.ts";
import { authorized } from "./authorize.ts";
import type { Call, Method } from "./call.ts";
import { createApi } from "./root.ts";
import { type TestApi, testApi } from "./testing/test-api.ts";
import { type World, bookingInput, makeWorld } from "./testing/world.ts";

let it: TestApi;
let mine: World;
let theirs: World;

beforeAll(async () => {
  it = await testApi();
  mine = await makeWorld(it.invoke, it.admin, "mine");
  theirs = await makeWorld(it.invoke, it.admin, "theirs");
});
afterAll(() => it.close());

const random = (prefix: Parameters<typeof freshId>[0]) =>
  freshId(prefix, Date.now(), randomBytes(10));

/**
 * All that a call does, in order: the statements that it reads and writes with, without their parameters, and what
 * is asked of the policies. What is counted of it is written when the API stops, so that is in it as well.
 */
async function workOf(method: Method, input: object, token: string): Promise<string[]> {
  const work: string[] = [];
  const { db, access } = it.deps;
  const sql = new Proxy(db.sql, {
    apply(target, self, args: unknown[]) {
      const [strings] = args;
      if (Array.isArray(strings) && "raw" in strings) work.push(strings.join("?"));
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  const decide: typeof access.decide = (principal, action, resource) => {
    work.push(`decide ${action} on ${resource.kind}`);
    return access.decide(principal, action, resource);
  };
  const slots = noting(db.slots, work);
  const api = createApi({ ...it.deps, access: { ...access, decide }, db: { ...db, sql, slots } });
  const context = api.context({ token, requestId: "r" });
  await api.invoke({ method, rawInput: () => Promise.resolve(input), context }).catch(() => null);
  await api.stop();
  return work;
}

type Slots = TestApi["deps"]["db"]["slots"];

function noting(slots: Slots, work: string[]): Slots {
  const run: Slots["run"] = (text, params) => {
    work.push(text);
    return slots.run(text, params);
  };
  const tx: Slots["tx"] = (body) =>
    slots.tx((inner) =>
      body({
        q(text, params) {
          work.push(text);
          return inner.q(text, params);
        },
      }),
    );
  return new Proxy(slots, {
    get: (target, name) => ({ run, tx })[name as "run"] ?? (Reflect.get(target, name) as unknown),
  });
}

describe("what is another tenant's is answered as what is not there, by the same work", () => {
  const swaps = {
    tenantId: () => `nobody-${random("key").slice(4)}`,
    poolId: () => random("pool"),
    siteId: () => random("site"),
    nodeId: () => random("node"),
    unitId: () => random("unit"),
    reservationId: (method: Method) =>
      random(method.startsWith("unitReservations.") ? "ursv" : "rsv"),
    maintenanceId: () => random("mnt"),
    keyId: () => random("key"),
  };
  /** Not what the call is about: a quota's receiver, a filter of one's own list. */
  const named = (method: Method): (keyof typeof swaps)[] => {
    const input = AUTHORIZATION_MATRIX[method].input(theirs, "admin");
    return (Object.keys(swaps) as (keyof typeof swaps)[]).filter((field) => field in input);
  };
  const fleet = new Set(["fleet.putTenant", "fleet.putProviderAccount"]);

  for (const method of METHOD_NAMES.filter((name) => !fleet.has(name)))
    test(method, async () => {
      const token = mine.tokens.admin ?? "";
      const foreign = AUTHORIZATION_MATRIX[method].input(theirs, "admin");
      for (const field of named(method)) {
        // Everything but the one thing is the caller's own, where the call names a tenant at all.
        const own = "tenantId" in foreign ? { tenantId: mine.tenantId } : {};
        const base = field === "tenantId" ? foreign : { ...foreign, ...own };
        const hidden = { ...base };
        const absent = { ...base, [field]: swaps[field](method) };
        const [seen, missing] = [
          await it.outcome(method, hidden, token),
          await it.outcome(method, absent, token),
        ];
        expect([field, seen.code, seen.error]).toEqual([field, "NOT_FOUND", missing.error]);
        const work = await workOf(method, hidden, token);
        expect([field, work]).toEqual([field, await workOf(method, absent, token)]);
        // Its role on the tenant, and the count of the refusal, at the least.
        expect(work.length).toBeGreaterThanOrEqual(2);
      }
    });
});

describe("a pool that is offered", () => {
  let guest: string;
  beforeAll(async () => {
    guest = mine.tokens.stranger ?? "";
    await it.invoke(
      "pools.offer",
      {
        tenantId: mine.tenantId,
        poolId: mine.poolId,
        toTenantId: mine.strangerTenantId,
        quota: { gpu: 2 },
        includeDescendants: false,
        priority: 0,
      },
      it.admin,
    );
  });

  test("is seen by the tenant that it is offered to", async () => {
    const input = { tenantId: mine.strangerTenantId, poolId: mine.poolId };
    expect((await it.outcome("pools.get", input, guest)).code).toBe("OK");
  });

  test("is NOT_FOUND for its owner's methods, not FORBIDDEN", async () => {
    const input = { tenantId: mine.strangerTenantId, poolId: mine.poolId };
    for (const [method, more] of [
      ["pools.offer", { toTenantId: mine.strangerTenantId, quota: { gpu: 9 } }],
      ["pools.unoffer", { toTenantId: mine.tenantId }],
      ["pools.update", { gpuModel: "H200" }],
      ["pools.archive", {}],
    ] as const)
      expect((await it.outcome(method, { ...input, ...more }, guest)).code).toBe("NOT_FOUND");
  });

  test("shows its nodes, which only their owner may change", async () => {
    const { nodeId, strangerTenantId: tenantId } = mine;
    expect((await it.outcome("fleet.getNode", { tenantId, nodeId }, guest)).code).toBe("OK");
    const change = { nodeId, state: "unhealthy" };
    expect((await it.outcome("fleet.setNodeState", change, guest)).code).toBe("NOT_FOUND");
  });

  test("does not let a guest end another's reservation, and lets the owner end a guest's", async () => {
    const tenantId = mine.strangerTenantId;
    const end = { reservationId: mine.reservationId, reason: "x" };
    expect((await it.outcome("reservations.terminate", { tenantId, ...end }, guest)).code).toBe(
      "NOT_FOUND",
    );
    const booked = await it.invoke(
      "reservations.create",
      bookingInput({ tenantId, poolId: mine.poolId, idempotencyKey: "guest" }),
      guest,
    );
    const input = { tenantId: mine.tenantId, reservationId: booked["id"], reason: "over" };
    const asOwner = await it.outcome("reservations.terminate", input, mine.tokens.admin);
    expect(asOwner.output).toMatchObject({ state: "terminated" });
  });
});

describe("a role", () => {
  test("reaches the tenants below its own and none above or beside", async () => {
    const childId = `${mine.tenantId}.child`;
    await it.invoke("fleet.putTenant", { tenantId: childId, parentId: mine.tenantId }, it.admin);
    const { secret } = (await it.invoke(
      "access.createKey",
      { tenantId: childId, role: "tenant-admin", name: "child" },
      mine.tokens.admin,
    )) as { secret: string };
    const list = async (tenantId: string, token: string | null) =>
      (await it.outcome("pools.list", { tenantId }, token)).code;
    expect(await list(childId, mine.tokens.viewer)).toBe("OK");
    expect(await list(mine.tenantId, secret)).toBe("NOT_FOUND");
    expect(await list(theirs.tenantId, secret)).toBe("NOT_FOUND");
  });
});

describe("the order of checks", () => {
  test("a caller without a key is refused before its input is read", async () => {
    let read = false;
    const context = it.api.context({ token: "wrong", requestId: "r" });
    const rawInput = () => {
      read = true;
      return Promise.resolve({});
    };
    await expect(it.api.invoke({ method: "pools.list", rawInput, context })).rejects.toThrow(
      /valid key/,
    );
    expect(read).toBe(false);
  });

  test("input is parsed before anything is looked up", async () => {
    const outcome = await it.outcome(
      "pools.get",
      { tenantId: "nobody", more: 1 },
      mine.tokens.viewer,
    );
    expect(outcome.error).toMatchObject({ code: "INVALID_INPUT" });
    expect(outcome.error?.issues?.map(({ path }) => path)).toEqual([["poolId"], ["more"]]);
  });

  test("a used key answers before visibility and without a second decision", async () => {
    const key = `again-${Date.now()}`;
    const input = bookingInput({
      tenantId: mine.tenantId,
      poolId: mine.poolId,
      idempotencyKey: key,
    });
    const { secret } = (await it.invoke(
      "access.createKey",
      { tenantId: mine.tenantId, role: "tenant-operator", name: "replayer" },
      it.admin,
    )) as { secret: string };
    const first = await it.invoke("reservations.create", input, secret);
    const weaker = (await it.invoke(
      "access.createKey",
      { tenantId: mine.tenantId, role: "tenant-viewer", name: "replayer" },
      it.admin,
    )) as { secret: string };
    const context = it.api.context({ token: weaker.secret, requestId: "r" });
    const rawInput = () => Promise.resolve(input);
    const again = await it.api.invoke({ method: "reservations.create", rawInput, context });
    expect(again).toMatchObject({ id: first["id"] });
    expect(context.answer.replayed).toBe(true);
  });
});

test("who goes on for long is asked for again by the whole chain, and its own used key is no replay", async () => {
  const principal = await it.api.context({ token: it.admin, requestId: "r" }).authenticate();
  let [replays, decisions] = [0, 0];
  const decide: typeof it.deps.access.decide = (...asked) => {
    decisions += 1;
    return it.deps.access.decide(...asked);
  };
  const handler = {
    replay: () => Promise.resolve(void (replays += 1)),
    async run(call: Pick<Call, "recheck">) {
      const later = performance.now() + 10_000;
      const clock = vi.spyOn(performance, "now").mockReturnValue(later);
      await call.recheck().finally(() => clock.mockRestore());
    },
  };
  const call: Call = {
    // A read is not filed, and follows no feed.
    deps: { ...it.deps, access: { ...it.deps.access, decide } } as Call["deps"],
    ...{ method: "pools.get", principal, requestId: "r", answer: {}, signal: undefined },
    ...{
      ifMatch: undefined,
      recheck: () => Promise.resolve(),
      hangUp: () => undefined,
      resting: () => () => undefined,
    },
  };
  const { tenantId, poolId } = mine;
  const step = { row: catalog["pools.get"], handler, call, input: { tenantId, poolId } };
  await authorized(step);
  expect({ replays, decisions }).toEqual({ replays: 1, decisions: 2 });
});

describe("a narrowed key", () => {
  const keyOf = async (scope: object, role = "tenant-admin") =>
    (
      (await it.invoke(
        "access.createKey",
        { tenantId: mine.tenantId, role, name: "narrow", scope },
        it.admin,
      )) as { secret: string }
    ).secret;
  const code = async (method: Method, input: object, token: string) =>
    (await it.outcome(method, input, token)).code;

  test("is forbidden what is not among its actions", async () => {
    const token = await keyOf({ actions: ["compute:pools:read"] });
    const pool = { tenantId: mine.tenantId, poolId: mine.poolId };
    expect(await code("pools.get", pool, token)).toBe("OK");
    expect(await code("capacity.byPool", pool, token)).toBe("FORBIDDEN");
  });

  test("does not find pools, nodes and reservations beside its own", async () => {
    const token = await keyOf({ poolIds: [mine.sparePoolId] });
    const { tenantId, poolId, nodeId, reservationId } = mine;
    expect(await code("pools.get", { tenantId, poolId: mine.sparePoolId }, token)).toBe("OK");
    expect(await code("pools.get", { tenantId, poolId }, token)).toBe("NOT_FOUND");
    expect(await code("fleet.getNode", { tenantId, nodeId }, token)).toBe("NOT_FOUND");
    expect(await code("reservations.get", { tenantId, reservationId }, token)).toBe("NOT_FOUND");
    expect(await code("events.list", { tenantId, poolId }, token)).toBe("NOT_FOUND");
    const { pools } = await it.invoke("pools.list", { tenantId }, token);
    expect((pools as { id: string }[]).map(({ id }) => id)).toEqual([mine.sparePoolId]);
    expect(await it.invoke("fleet.listNodes", { tenantId }, token)).toEqual({
      nodes: [],
      nextCursor: null,
    });
    const { reservations } = await it.invoke("reservations.list", { tenantId }, token);
    expect(reservations).toEqual([]);
    const summary = await it.invoke("capacity.summary", { tenantId }, token);
    expect((summary["pools"] as { poolId: string }[]).map((pool) => pool.poolId)).toEqual([
      mine.sparePoolId,
    ]);
  });

  test("reads nothing of the whole tenant that it could not leave the other pools out of", async () => {
    const token = await keyOf({ poolIds: [mine.sparePoolId] });
    const { tenantId } = mine;
    for (const method of ["access.audit", "access.listKeys", "fleet.listSites"] as const) {
      expect([method, await code(method, { tenantId }, token)]).toEqual([method, "FORBIDDEN"]);
      expect(await code(method, { tenantId }, mine.tokens.admin ?? "")).toBe("OK");
    }
    const theirTenant = { tenantId: theirs.tenantId };
    expect(await code("access.audit", theirTenant, token)).toBe("NOT_FOUND");
  });

  test("is told of what happened in its own pools only", async () => {
    const token = await keyOf({ poolIds: [mine.sparePoolId] });
    await it.database.feedCaughtUp();
    const ask = { tenantId: mine.tenantId, limit: 200 };
    const poolsTold = async (asker: string) => {
      const { events } = await it.invoke("events.list", ask, asker);
      return new Set((events as { poolId: string | null }[]).map(({ poolId }) => poolId));
    };
    expect(await poolsTold(it.admin)).toContain(mine.poolId);
    expect(await poolsTold(token)).toEqual(new Set([mine.sparePoolId]));
  });

  test("replays nothing that another key of its name made beside its pools", async () => {
    const { tenantId, poolId, sparePoolId } = mine;
    const wish = bookingInput({ tenantId, poolId, idempotencyKey: "shared-name" });
    const made = await it.invoke("reservations.create", wish, await keyOf({}));
    const narrow = await keyOf({ poolIds: [sparePoolId] });
    expect(await code("reservations.create", wish, narrow)).toBe("NOT_FOUND");
    await it.invoke("reservations.release", { tenantId, reservationId: made["id"] }, it.admin);
  });

  test("is not answered again what it may not ask, and a used key's other request is on file", async () => {
    const { tenantId, poolId } = mine;
    const wish = bookingInput({ tenantId, poolId, idempotencyKey: "narrow-actions" });
    const made = await it.invoke("reservations.create", wish, await keyOf({}));
    const reader = await keyOf({ actions: ["compute:reservations:read"] });
    expect(await code("reservations.create", wish, reader)).toBe("FORBIDDEN");

    const conflicts = async () => {
      const [row] = await it.database.sql<{ n: number }[]>`
        select count(*)::int as n from audit
        where method = 'reservations.create' and outcome = 'CONFLICT' and tenant_id = ${tenantId}`;
      return row?.n;
    };
    const before = await conflicts();
    const other = { ...wish, duration: "2h" };
    expect(await code("reservations.create", other, await keyOf({}))).toBe("CONFLICT");
    await expect.poll(conflicts).toBe(Number(before) + 1);
    await it.invoke("reservations.release", { tenantId, reservationId: made["id"] }, it.admin);
  });

  test("neither reports a node of another pool nor brings one of its own there", async () => {
    const token = await keyOf({ poolIds: [mine.sparePoolId] });
    const { tenantId, siteId, poolId, nodeId, sparePoolId } = mine;
    const admin = mine.tokens.admin ?? "";
    const before = await it.invoke("fleet.getNode", { tenantId, nodeId }, admin);
    const other = { name: before["name"], state: "unhealthy", address: "elsewhere:22" };
    const report = { siteId, poolId: sparePoolId, nodes: [other] };
    expect(await code("fleet.putNodes", report, token)).toBe("NOT_FOUND");
    expect(await it.invoke("fleet.getNode", { tenantId, nodeId }, admin)).toEqual(before);

    const loose = await it.invoke("fleet.putNodes", { siteId, nodes: [{ name: "loose" }] }, admin);
    const pull = { siteId, poolId: sparePoolId, nodes: [{ name: "loose" }] };
    expect(await code("fleet.putNodes", pull, token)).toBe("NOT_FOUND");
    const [{ id: looseId } = { id: "" }] = loose["nodes"] as { id: string }[];
    await it.invoke("fleet.assignNode", { nodeId: looseId, poolId: sparePoolId }, admin);
    expect(await code("fleet.assignNode", { nodeId: looseId, poolId }, token)).toBe("NOT_FOUND");
    await it.invoke("fleet.removeNode", { nodeId: looseId }, admin);
  });

  test("makes nothing outside its pools", async () => {
    const token = await keyOf({ poolIds: [mine.sparePoolId] });
    const { tenantId, siteId } = mine;
    const wishes: [Method, object][] = [
      ["pools.create", { tenantId, siteId, class: "metal-host" }],
      ["fleet.putSite", { tenantId, name: "more", region: "r" }],
      ["fleet.putNodes", { siteId, nodes: [{ name: "more" }] }],
      ["access.revokeKey", { keyId: mine.keyId }],
    ];
    for (const [method, input] of wishes)
      expect(await code(method, input, token)).toBe("FORBIDDEN");
  });
});
