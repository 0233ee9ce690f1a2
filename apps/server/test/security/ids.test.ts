/** Ids that are derived from names: no two owners ever share one, and one that is another's is not there. */
import { readFileSync, readdirSync } from "node:fs";
import { derive } from "@berth/engine";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, node, startServer } from "../harness.ts";

type Prefix = Parameters<typeof derive>[0];
/** Every use of `derive` in the product: the prefix, and the tag of its domain. */
const DOMAINS: readonly (readonly [Prefix, string])[] = [
  ["key", "token"],
  ["pacct", "name"],
  ["site", "name"],
  ["pool", "create"],
  ["node", "name"],
  ["unit", "gpu"],
  ["unit", "gpu.mig"],
  ["unit", "gpu.slot"],
  ["unit", "nic.vf"],
  ["unit", "disk"],
];

describe("a derived id", () => {
  const part = fc.oneof(
    fc.constantFrom("a", "b", "a:b", "b:c", ":", "::", '"', '","', "\\", "[", "]", ",", "", "\0"),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const parts = fc.array(part, { minLength: 1, maxLength: 4 });
  const domain = fc.constantFrom(...DOMAINS);

  it("is of its domain and its parts alone: what differs in either has another", () => {
    fc.assert(
      fc.property(domain, parts, domain, parts, ([p1, t1], one, [p2, t2], two) => {
        const same = JSON.stringify([p1, t1, one]) === JSON.stringify([p2, t2, two]);
        expect(derive(p1, t1, one) === derive(p2, t2, two)).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(DOMAINS)("%s of %s keeps a text that is cut elsewhere apart", (prefix, tag) => {
    fc.assert(
      fc.property(fc.string({ minLength: 2, maxLength: 12 }), fc.nat(), fc.nat(), (text, m, n) => {
        const [at, other] = [m % (text.length + 1), n % (text.length + 1)];
        fc.pre(at !== other);
        const cut = (where: number) => [text.slice(0, where), text.slice(where)];
        expect(derive(prefix, tag, cut(at))).not.toBe(derive(prefix, tag, cut(other)));
      }),
      { numRuns: 200 },
    );
  });

  it("is made nowhere in the product but in these domains", () => {
    const root = new URL("../../../../packages/", import.meta.url);
    const uses = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => /^(?:api|domain|engine)\/src\/.*\.ts$/.test(name))
      .filter((name) => !/\.test\.ts$|testing\//.test(name))
      .flatMap((name) => [
        ...readFileSync(new URL(name, root), "utf8").matchAll(/\bderive\("(\w+)", ([^,]+),/g),
      ])
      .map(([, prefix, tag]) => `${prefix} ${tag?.replaceAll('"', "")}`);
    const known = DOMAINS.map(([prefix, tag]) => `${prefix} ${tag}`);
    // The classes of a GPU's parts: MIG instances and slots.
    expect(new Set(uses.filter((use) => use !== "unit part.class"))).toEqual(
      new Set(known.filter((use) => !/gpu\.(?:mig|slot)/.test(use))),
    );
  });
});

describe("two tenants whose names run into each other", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    for (const tenantId of ["a", "a:b"]) await server.admin.fleet.putTenant({ tenantId });
  });
  afterAll(() => server.stop());

  const site = (tenantId: string, name: string) =>
    server.admin.fleet.putSite({ tenantId, name, region: "eu" });
  const keyOf = async (tenantId: string, name: string) =>
    (await server.admin.access.createKey({ tenantId, role: "tenant-admin", name })).secret;
  const makePool = async (tenantId: string, name: string, idempotencyKey: string) => {
    const { id: siteId } = await site(tenantId, "hall");
    const input = { tenantId, siteId, class: "metal-host", idempotencyKey };
    return server.http("pools.create", input, { token: await keyOf(tenantId, name) });
  };

  /** Past the guard of the tables that only the gate writes. */
  const plant = (text: string) =>
    server.database.sql.unsafe(
      `do $$ begin set local session_replication_role = replica; ${text}; end $$`,
    );

  it("have sites, accounts, nodes, pools and bookings of their own", async () => {
    const pairs = [
      [await site("a", "b:c"), await site("a:b", "c")],
      [
        await server.admin.fleet.putProviderAccount({ tenantId: "a", name: "b:c", kind: "k" }),
        await server.admin.fleet.putProviderAccount({ tenantId: "a:b", name: "c", kind: "k" }),
      ],
      [(await makePool("a", "b:c", "k")).body, (await makePool("a:b", "c", "k")).body],
      [(await makePool("a", "b", "c:k")).body, (await makePool("a", "b:c", "k:2")).body],
    ] as { id?: unknown; tenantId: string }[][];
    for (const [one, two] of pairs) {
      expect(one?.id).toEqual(expect.any(String));
      expect(one?.id).not.toBe(two?.id);
    }
    expect(pairs[2]?.map(({ tenantId }) => tenantId)).toEqual(["a", "a:b"]);

    const nodes = await Promise.all(
      (["a", "a:b"] as const).map(async (tenantId) => {
        const { id: siteId } = await site(tenantId, "hall");
        return server.admin.fleet.putNodes({ siteId, nodes: [node("same", 1)] });
      }),
    );
    expect(new Set(nodes.flatMap((put) => put.nodes.map(({ id }) => id))).size).toBe(2);
  });

  it("never get what the other has, were the id the same", async () => {
    const { sql } = server.database;
    // Whatever made it so, an id that is derived here belongs to somebody else by now.
    const made = await makePool("a", "owner", "taken");
    await plant(`update pools set tenant_id = 'a:b' where id = '${String(made.body["id"])}'`);
    expect((await makePool("a", "owner", "taken")).body).toMatchObject({ code: "NOT_FOUND" });

    const { id: siteId } = await site("a", "taken");
    await sql`update sites set tenant_id = 'a:b', region = 'theirs' where id = ${siteId}`;
    const put = { tenantId: "a", name: "taken", region: "mine" };
    expect((await server.http("fleet.putSite", put)).body).toMatchObject({ code: "NOT_FOUND" });

    const account = { tenantId: "a", name: "taken", kind: "mine" };
    const { id } = await server.admin.fleet.putProviderAccount(account);
    await sql`update provider_accounts set tenant_id = 'a:b' where id = ${id}`;
    expect((await server.http("fleet.putProviderAccount", account)).body).toMatchObject({
      code: "NOT_FOUND",
    });
    const [theirs] = await sql<{ region: string }[]>`select region from sites where id = ${siteId}`;
    expect(theirs?.region).toBe("theirs");
  });

  it("nor a node that a report of another site's names", async () => {
    const [mine, theirs] = [await site("a", "n-1"), await site("a:b", "n-2")];
    const report = { siteId: mine.id, nodes: [node("taken", 1)] };
    const put = await server.admin.fleet.putNodes(report);
    const nodeId = String(put.nodes[0]?.id);
    await plant(`update nodes set site_id = '${theirs.id}' where id = '${nodeId}'`);
    const again = await server.http("fleet.putNodes", report, { token: await keyOf("a", "n") });
    expect(JSON.stringify(again.body)).not.toContain(nodeId);
    expect(again.status).toBe(404);
  });
});
