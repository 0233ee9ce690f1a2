/** Nobody gives away more than they have: not a higher role, another tenant, a wider scope or a later end. */
import type { RawInput } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { answerOf, askOf, surfacesOf } from "./surfaces.ts";

type Wish = RawInput<"access.createKey">;
const DAY = 86_400_000;
let server: TestServer;
let fleet: Fleet;
let beside: Fleet;
beforeAll(async () => {
  server = await startServer();
  fleet = await server.fleet(pool(1, 1));
  beside = await server.fleet(pool(1, 1));
  await server.token("t-parent", "tenant-admin");
  await server.admin.fleet.putTenant({ tenantId: "t-own", parentId: "t-parent" });
  await server.admin.fleet.putTenant({ tenantId: "t-own.child", parentId: "t-own" });
});
afterAll(() => server.stop());

async function keys(): Promise<number> {
  const [row] = await server.database.sql<{ count: number }[]>`
    select count(*)::int as count from api_keys`;
  return row?.count ?? 0;
}

const wish = (given: Partial<Wish> = {}): Wish => ({
  tenantId: "t-own",
  role: "tenant-viewer",
  name: "made",
  ...given,
});

/** A key of t-own that can do just this much. */
const maker = async (given: Partial<Wish> = {}) =>
  (await server.admin.access.createKey(wish({ role: "tenant-admin", name: "maker", ...given })))
    .secret;

async function expectRefused(token: string, asked: Wish, code: string): Promise<void> {
  const before = await keys();
  for (const surface of surfacesOf("access.createKey")) {
    const answer = await answerOf(server.url, askOf(surface, "access.createKey", asked), token);
    expect([asked, answer.code]).toEqual([asked, code]);
    expect(answer.text).not.toContain("berth_");
  }
  expect(await keys()).toBe(before);
}

async function made(token: string, asked: Wish): Promise<string> {
  const { status, body } = await server.http("access.createKey", asked, { token });
  expect([asked, status, body["code"]]).toEqual([asked, 200, undefined]);
  return String(body["secret"]);
}

describe("a key is made with no more than its maker has", () => {
  it("no higher role, from an admin down to who makes no keys at all", async () => {
    await expectRefused(await maker(), wish({ role: "fleet-admin" }), "FORBIDDEN");
    for (const role of ["tenant-viewer", "tenant-operator"] as const)
      for (const asked of ["tenant-viewer", "tenant-operator", "tenant-admin"] as const)
        await expectRefused(await maker({ role }), wish({ role: asked }), "FORBIDDEN");
  });

  it("no other tenant, above, beside or nobody; one below is the maker's to give", async () => {
    const token = await maker();
    for (const tenantId of ["t-parent", "t-a", "platform", "nobody-at-all"])
      await expectRefused(token, wish({ tenantId }), "NOT_FOUND");
    const below = await made(token, wish({ tenantId: "t-own.child", role: "tenant-admin" }));
    await expectRefused(below, wish(), "NOT_FOUND");
    await expectRefused(below, wish({ tenantId: "t-own.child", role: "fleet-admin" }), "FORBIDDEN");
  });

  it("no wider scope: neither none at all, nor pools or actions beside the maker's", async () => {
    const poolIds = [fleet.poolId];
    const narrow = await maker({ scope: { poolIds } });
    for (const scope of [
      undefined,
      { actions: ["compute:pools:read" as const] },
      { poolIds: [beside.poolId] },
      { poolIds: [fleet.poolId, beside.poolId] },
    ])
      await expectRefused(narrow, wish(scope ? { scope } : {}), "FORBIDDEN");
    await made(narrow, wish({ scope: { poolIds } }));

    const actions = ["compute:access:manage" as const, "compute:pools:read" as const];
    const limited = await maker({ scope: { actions } });
    for (const more of [
      { poolIds },
      { actions: [...actions, "compute:pools:manage" as const] },
      { actions: ["compute:nodes:read" as const] },
    ])
      await expectRefused(limited, wish({ scope: more }), "FORBIDDEN");
    await made(limited, wish({ scope: { actions: ["compute:pools:read"] } }));
    await expectRefused(
      await maker({ scope: { actions: ["compute:pools:read"] } }),
      wish(),
      "FORBIDDEN",
    );
  });

  it("no later end: what is not said is the maker's, and what is said lies before it", async () => {
    const expiresAt = Date.now() + DAY;
    const token = await maker({ expiresAt });
    await expectRefused(token, wish({ expiresAt: expiresAt + 1 }), "FORBIDDEN");
    const { body } = await server.http("access.createKey", wish({ name: "heir" }), { token });
    expect(body["key"]).toMatchObject({ expiresAt });
    // Nor by a chain: what was made has the end of what made it.
    const heir = await made(token, wish({ role: "tenant-admin", name: "heir-2" }));
    await expectRefused(heir, wish({ expiresAt: expiresAt + 1 }), "FORBIDDEN");
  });

  it("and a key that is above its caller is not the caller's to end", async () => {
    const { key } = await server.admin.access.createKey(
      wish({ role: "fleet-admin", name: "high" }),
    );
    const { status, body } = await server.http(
      "access.revokeKey",
      { keyId: key.id },
      { token: await maker() },
    );
    expect([status, body["code"]]).toEqual([403, "FORBIDDEN"]);
  });
});
