import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestApi, testApi } from "../../testing/test-api.ts";
import { type World, makeWorld } from "../../testing/world.ts";

let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

interface Made {
  readonly key: { readonly id: string; readonly expiresAt: number | null };
  readonly secret: string;
}

const make = async (input: object, token = it.admin) =>
  (await it.invoke(
    "access.createKey",
    { tenantId: world.tenantId, name: "made", role: "tenant-admin", ...input },
    token,
  )) as unknown as Made;
const code = async (input: object, token: string) =>
  (
    await it.outcome(
      "access.createKey",
      { tenantId: world.tenantId, name: "made", role: "tenant-viewer", ...input },
      token,
    )
  ).code;

describe("a key never has more than its maker", () => {
  test("not a higher role", async () => {
    expect(await code({ role: "fleet-admin" }, world.tokens.admin ?? "")).toBe("FORBIDDEN");
  });

  test("not another tenant", async () => {
    const foreign = { tenantId: world.strangerTenantId };
    expect(await code(foreign, world.tokens.admin ?? "")).toBe("NOT_FOUND");
  });

  test("not a wider scope, nor none", async () => {
    const actions = ["compute:access:manage", "compute:pools:read"];
    const { secret } = await make({ scope: { actions } });
    expect(await code({}, secret)).toBe("FORBIDDEN");
    expect(await code({ scope: { actions: ["compute:pools:create"] } }, secret)).toBe("FORBIDDEN");
    expect(await code({ scope: { actions: ["compute:pools:read"] } }, secret)).toBe("OK");
  });

  test("not a later end; an absent one is the maker's", async () => {
    const expiresAt = Date.now() + 3_600_000;
    const { secret } = await make({ expiresAt });
    expect(await code({ expiresAt: expiresAt + 1 }, secret)).toBe("FORBIDDEN");
    expect((await make({ role: "tenant-viewer" }, secret)).key.expiresAt).toBe(expiresAt);
  });
});

describe("a key", () => {
  test("that would be over already is refused", async () => {
    expect(await code({ expiresAt: 1 }, it.admin)).toBe("INVALID_INPUT");
  });

  test("shows its secret once: no list, event, audit entry or log line holds it", async () => {
    const { secret, key } = await make({});
    const { tenantId } = world;
    const shown = [
      await it.invoke("access.listKeys", { tenantId }, it.admin),
      await it.invoke("access.audit", { tenantId, limit: 200 }, it.admin),
      await it.invoke("events.list", { tenantId, limit: 200 }, it.admin),
      it.lines,
      await it.database.sql`select to_jsonb(k) as k from api_keys k`,
    ];
    const text = JSON.stringify(shown);
    expect(text).toContain(key.id);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(secret.slice(-38));
  });

  test("revoked is refused at once where it was revoked, and answered unchanged again", async () => {
    const { secret, key } = await make({});
    expect((await it.outcome("access.whoami", {}, secret)).code).toBe("OK");
    const revoked = await it.invoke("access.revokeKey", { keyId: key.id }, it.admin);
    expect((await it.outcome("access.whoami", {}, secret)).code).toBe("UNAUTHENTICATED");
    expect(await it.invoke("access.revokeKey", { keyId: key.id }, it.admin)).toEqual(revoked);
  });

  test("of a higher role is not its tenant-admin's to revoke", async () => {
    const { key } = await make({ role: "fleet-admin" });
    const outcome = await it.outcome("access.revokeKey", { keyId: key.id }, world.tokens.admin);
    expect(outcome.code).toBe("FORBIDDEN");
  });

  test("is told of when made and when revoked", async () => {
    const { key } = await make({});
    await it.invoke("access.revokeKey", { keyId: key.id }, it.admin);
    const told = async () => {
      const input = { tenantId: world.tenantId, limit: 200 };
      const { events } = await it.invoke("events.list", input, it.admin);
      return (events as { type: string; data: { keyId?: string } }[])
        .filter(({ data }) => data.keyId === key.id)
        .map(({ type }) => type);
    };
    await expect.poll(told, { timeout: 20_000 }).toEqual(["key.created", "key.revoked"]);
  });
});

describe("whoami", () => {
  test("says who the key stands for, with or without a body", async () => {
    const expected = {
      tenantId: world.tenantId,
      name: "viewer",
      role: "tenant-viewer",
      scope: null,
    };
    for (const body of [{}, undefined])
      expect((await it.outcome("access.whoami", body, world.tokens.viewer)).output).toMatchObject(
        expected,
      );
  });
});

describe("the audit trail", () => {
  interface Entry {
    readonly id: string;
    readonly method: string;
    readonly outcome: string;
    readonly principal: string;
    readonly target: string | null;
  }
  const read = async (limit = 200, after?: string) =>
    (await it.invoke(
      "access.audit",
      { tenantId: world.tenantId, limit, ...(after ? { after } : {}) },
      it.admin,
    )) as unknown as { entries: Entry[]; nextCursor: string | null };

  test("holds a mutation with its outcome before the answer is out", async () => {
    const { nodeId } = world;
    await it.invoke("fleet.setNodeState", { nodeId, state: "ready" }, world.tokens.admin);
    const { entries } = await read(1);
    expect(entries).toMatchObject([
      {
        method: "fleet.setNodeState",
        outcome: "ok",
        target: nodeId,
        principal: `${world.tenantId}/admin`,
      },
    ]);
  });

  test("holds a refused mutation with its code", async () => {
    const input = { nodeId: world.nodeId, state: "ready", version: 999_999 };
    expect((await it.outcome("fleet.setNodeState", input, world.tokens.admin)).code).toBe(
      "CONFLICT",
    );
    await expect
      .poll(async () => (await read(5)).entries)
      .toContainEqual(
        expect.objectContaining({ method: "fleet.setNodeState", outcome: "CONFLICT" }),
      );
  });

  test("is read in pages, newest first, none twice", async () => {
    const all = (await read()).entries.map(({ id }) => id);
    const paged: string[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await read(3, after);
      paged.push(...page.entries.map(({ id }) => id));
      after = page.nextCursor;
    }
    expect(paged).toEqual(all);
    expect(paged).toEqual(paged.toSorted((a, b) => Number(b) - Number(a)));
  });

  test("refuses a cursor of another list", async () => {
    const after = Buffer.from("nodes 1").toString("base64url");
    const input = { tenantId: world.tenantId, after };
    expect((await it.outcome("access.audit", input, it.admin)).error).toMatchObject({
      code: "INVALID_INPUT",
      issues: [{ path: ["after"] }],
    });
  });
});
