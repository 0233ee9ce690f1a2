/** Who signs in with a token of the configured issuer does what its role says, on every surface. */
import { AUDIENCE, type FakeIssuer, fakeIssuer } from "@berth/api/testing";
import { type Berth, createBerth, isBerthError } from "@berth/client";
import type { Role } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fleet, type TestServer, canaries, node, pool, startServer } from "./harness.ts";
import { answerOf, askOf } from "./security/surfaces.ts";

let issuer: FakeIssuer;
let server: TestServer;
let fleet: Fleet;
const lines: string[] = [];
beforeAll(async () => {
  issuer = await fakeIssuer();
  const settings = issuer.settings({ roleClaims: [["realm_access", "roles"]] });
  const config = { oidc: { settings, clientId: "console", tokenUri: null } };
  server = await startServer({ config, lines });
  fleet = await server.fleet(pool(2, 8, { owner: "lab" }));
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
  await issuer.close();
});

async function tokenOf(sub: string, role: Role, claims: object = {}): Promise<string> {
  const realm_access = { roles: ["offline_access", role] };
  const token = await issuer.token({ sub, realm_access, ...claims });
  canaries.knows(token, { tenantId: "lab", role });
  return token;
}
const clientOf = async (sub: string, role: Role): Promise<Berth> =>
  createBerth({ url: server.url, token: await tokenOf(sub, role) });
const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "OK";
  } catch (error) {
    if (isBerthError(error)) return error.code;
    throw error;
  }
};
const booking = (key: string) => ({
  tenantId: "lab",
  poolId: fleet.poolId,
  devices: [{ class: "gpu" as const, count: 1 }],
  duration: "1h",
  idempotencyKey: key,
});

describe("a token signs in over the published client", () => {
  it("as its subject, on its tenant, until its end, with no key of ours", async () => {
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const token = await tokenOf("ada", "tenant-viewer", { exp });
    expect(await createBerth({ url: server.url, token }).access.whoami()).toEqual({
      tenantId: "lab",
      name: "ada",
      role: "tenant-viewer",
      scope: null,
      keyId: null,
      expiresAt: exp * 1_000,
    });
  });

  it.each([
    ["tenant-viewer", ["OK", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]],
    ["tenant-operator", ["OK", "OK", "FORBIDDEN", "FORBIDDEN"]],
    ["tenant-admin", ["OK", "OK", "OK", "FORBIDDEN"]],
    ["fleet-admin", ["OK", "OK", "OK", "OK"]],
  ] as const)("as %s: reads, books, renames, makes tenants: %s", async (role, expected) => {
    const berth = await clientOf("ada", role);
    const { poolId } = fleet;
    expect(
      await Promise.all([
        codeOf(berth.capacity.summary({ tenantId: "lab" })),
        codeOf(berth.reservations.create(booking(`by-${role}`))),
        codeOf(berth.pools.update({ tenantId: "lab", poolId, policy: { label: role } })),
        codeOf(berth.fleet.putTenant({ tenantId: `of-${role}` })),
      ]),
    ).toEqual(expected);
    expect(await codeOf(berth.reservations.list({ tenantId: "t-a" }))).toBe(
      role === "fleet-admin" ? "OK" : "NOT_FOUND",
    );
  });

  it("over plain HTTP and the REST paths as well", async () => {
    const nodeId = String(fleet.nodeIds[0]);
    const token = await tokenOf("ada", "tenant-admin");
    const whoami = await answerOf(server.url, askOf("HTTP", "access.whoami", {}), token);
    expect([whoami.code, JSON.parse(whoami.text)]).toMatchObject(["OK", { name: "ada" }]);
    const list = askOf("REST", "unitReservations.list", { nodeId });
    expect((await answerOf(server.url, list, token)).code).toBe("OK");
    const elsewhere = await tokenOf("ada", "tenant-admin", { tenant: "t-a" });
    expect((await answerOf(server.url, list, elsewhere)).code).toBe("NOT_FOUND");
  });

  it("and watches events", async () => {
    const berth = await clientOf("ada", "tenant-viewer");
    const admin = await clientOf("grace", "tenant-admin");
    const leave = new AbortController();
    const watching = (async () => {
      const { signal } = leave;
      for await (const event of berth.reservations.watch({ tenantId: "lab" }, { signal }))
        return event.type;
      return null;
    })();
    const { poolId } = fleet;
    // Until it is heard of: the stream may open after the first of them.
    let told: string | null = null;
    for (let n = 0; told === null; n += 1) {
      await admin.pools.update({ tenantId: "lab", poolId, policy: { label: `seen-${n}` } });
      told = await Promise.race([watching, server.database.feedCaughtUp().then(() => null)]);
    }
    expect(told).toBe("pool.updated");
    leave.abort();
  });
});

describe("the caller behind a token", () => {
  it("is issuer and subject: a new token of the same person repeats a booking, another person's does not", async () => {
    const made = await (await clientOf("ada", "tenant-operator")).reservations.create(booking("k"));
    const again = await (
      await clientOf("ada", "tenant-operator")
    ).reservations.create(booking("k"));
    const other = await (
      await clientOf("bob", "tenant-operator")
    ).reservations.create(booking("k"));
    expect(again.id).toBe(made.id);
    expect(other.id).not.toBe(made.id);
    expect(made.createdBy).toBe(`oidc ${issuer.url} ada`);
  });

  it("is no key of that name, whatever the key is called", async () => {
    const names = ["ada", `oidc ${issuer.url} ada`];
    const token = await (
      await clientOf("ada", "tenant-operator")
    ).reservations.create(booking("n"));
    for (const name of names) {
      const key = { tenantId: "lab", role: "tenant-operator" as const, name };
      const { secret } = await server.admin.access.createKey(key);
      const made = await createBerth({ url: server.url, token: secret }).reservations.create(
        booking("n"),
      );
      expect(made.id).not.toBe(token.id);
    }
  });

  it("is in the audit trail, and has one budget of calls over all its tokens", async () => {
    const left = async () => {
      const token = await tokenOf("eve", "tenant-admin");
      const { headers } = await server.http("access.whoami", {}, { token });
      return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    };
    const before = await left();
    expect(await left()).toBe(before - 1);
    const eve = await clientOf("eve", "tenant-admin");
    const { poolId } = fleet;
    await eve.pools.update({ tenantId: "lab", poolId, policy: { label: "eve" } });
    const { entries } = await eve.access.audit({ tenantId: "lab", limit: 1 });
    expect(entries[0]?.principal).toBe(`oidc ${issuer.url} eve`);
  });

  it("is told of the unit reservations that it makes", async () => {
    const plain = node("signed-in", 8);
    const gpus = plain.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) }));
    const { nodeIds, owner } = await server.fleet({ ...pool(0, 0), nodes: [{ ...plain, gpus }] });
    const nodeId = String(nodeIds[0]);
    const { units } = await server.admin.fleet.getNode({ tenantId: owner, nodeId });
    const tenantId = "platform";
    const token = await tokenOf("olga", "fleet-admin", { tenant: tenantId });
    const operator = createBerth({ url: server.url, token });
    const ask = { nodeId, unitIds: units.slice(0, 1).map(({ id }) => id), allowedOrgIds: ["lab"] };
    const made = await operator.unitReservations.create(ask);
    const told = async () => {
      const { events } = await operator.events.list({ tenantId });
      return events
        .filter(({ type }) => type.startsWith("unitReservation."))
        .map(({ data }) => data);
    };
    await expect.poll(told).toMatchObject([{ unitReservationId: made.id }]);
  });

  it("makes keys that end with its token, and none that are more than its role", async () => {
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const token = await tokenOf("ada", "tenant-admin", { exp });
    const berth = createBerth({ url: server.url, token });
    const key = { tenantId: "lab", role: "tenant-admin" as const, name: "made-by-ada" };
    const { key: made } = await berth.access.createKey(key);
    expect([made.expiresAt, made.createdBy]).toEqual([exp * 1_000, `oidc ${issuer.url} ada`]);
    const later = { ...key, expiresAt: exp * 1_000 + 1 };
    expect(await codeOf(berth.access.createKey(later))).toBe("FORBIDDEN");
    expect(await codeOf(berth.access.createKey({ ...key, role: "fleet-admin" }))).toBe("FORBIDDEN");
  });
});

describe("a token that gives no role", () => {
  it("is nobody's: UNAUTHENTICATED, with the reason and its subject in the log, and the token nowhere", async () => {
    const token = await issuer.token({
      sub: "mallory",
      realm_access: { roles: ["offline_access"] },
    });
    lines.length = 0;
    const { status } = await server.http("access.whoami", {}, { token });
    expect(status).toBe(401);
    const line = lines.map((each) => JSON.parse(each) as object);
    expect(line).toContainEqual(
      expect.objectContaining({ reason: "unmapped", subject: "mallory" }),
    );
    expect(lines.join("")).not.toContain(token.split(".")[1]);
  });
});

it("/config.json tells the console where to sign in, and nothing else", async () => {
  const response = await fetch(`${server.url}/config.json`);
  expect(await response.json()).toEqual({
    oidc: {
      issuer: issuer.url,
      clientId: "console",
      audience: AUDIENCE,
      tokens: "access",
      tokenUri: null,
    },
  });
  expect(AUDIENCE).not.toBe("console");
});
