import { randomBytes } from "node:crypto";
import { type Database, openDatabase } from "@berth/db";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { freshId } from "@berth/domain";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logInto } from "../testing/test-api.ts";
import { BootstrapError, bootstrapKey, newBootstrapToken } from "./bootstrap.ts";
import { createKeys } from "./keys.ts";
import { hashToken, makeToken } from "./token.ts";

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await testDatabase();
  db = openDatabase(database.url);
});
afterEach(async () => {
  vi.useRealTimers();
  await db.close();
  await database.close();
});

const keys = () => createKeys(db, logInto([]));

async function storeKey(expiresInMs: number | null = null): Promise<string> {
  const id = freshId("key", Date.now(), randomBytes(10));
  const token = makeToken(id, randomBytes);
  await db.slots.run(
    `insert into tenants (tenant_id, name, created_at) values ('t', 't', 0) on conflict do nothing`,
  );
  await db.slots.run(
    `insert into api_keys (id, tenant_id, name, role, secret_hash, created_at, expires_at)
     values ($1, 't', 'ci', 'tenant-viewer', $2, 0, berth.now_ms() + $3::bigint)`,
    [id, hashToken(token), expiresInMs],
  );
  return token;
}

describe("a key", () => {
  test("stands for the principal of its tenant and name", async () => {
    const token = await storeKey();
    const principal = await keys().authenticate(token);
    expect(principal).toMatchObject({ id: "t/ci", tenantId: "t", role: "tenant-viewer" });
  });

  test("with a right id and another secret is refused", async () => {
    const token = await storeKey();
    const other = makeToken(`key_${token.slice(6, 32)}`, randomBytes);
    expect(await keys().authenticate(other)).toBeNull();
  });

  test("mistyped, or no key at all, is refused without a query", async () => {
    const broken = openDatabase("postgres://nobody@127.0.0.1:1/nowhere");
    const offline = createKeys(broken, logInto([]));
    const token = await storeKey();
    const typo = token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
    for (const text of [typo, "", "short", "x".repeat(600), "berth_" + "x".repeat(40)])
      expect(await offline.authenticate(text)).toBeNull();
    await broken.close();
  });

  test("is refused from its end on, cached or not", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const token = await storeKey(2_000);
    const door = keys();
    expect(await door.authenticate(token)).not.toBeNull();
    vi.advanceTimersByTime(2_001);
    expect(await door.authenticate(token)).toBeNull();
  });

  test("revoked elsewhere is refused here within 5 s, and at once where it was revoked", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const token = await storeKey();
    const [here, elsewhere] = [keys(), keys()];
    const principal = await here.authenticate(token);
    await elsewhere.authenticate(token);
    await db.slots.run("update api_keys set revoked_at = 1");
    if (principal) here.forget(principal.keyId);
    expect(await here.authenticate(token)).toBeNull();
    vi.advanceTimersByTime(5_000);
    expect(await elsewhere.authenticate(token)).toBeNull();
  });

  test("that many ask about at once costs one query", async () => {
    const token = await storeKey();
    let queries = 0;
    const sql = new Proxy(db.sql, {
      apply(target, self, parts) {
        queries += 1;
        return Reflect.apply(target, self, parts) as unknown;
      },
    });
    const door = createKeys({ ...db, sql }, logInto([]));
    const asked = Array.from({ length: 200 }, () => door.authenticate(token));
    for (const principal of await Promise.all(asked)) expect(principal?.id).toBe("t/ci");
    expect(queries).toBe(1);
  });

  test("notes when it was used", async () => {
    await keys().authenticate(await storeKey());
    await expect
      .poll(async () => (await db.sql`select last_used_at from api_keys`)[0]?.["last_used_at"])
      .toBeGreaterThan(0);
  });
});

describe("the bootstrap key", () => {
  test("is made once, whatever token comes later", async () => {
    const first = newBootstrapToken(randomBytes, Date.now());
    expect(await bootstrapKey(db, first)).toBe(true);
    expect(await bootstrapKey(db, newBootstrapToken(randomBytes, Date.now()))).toBe(false);
    expect(await keys().authenticate(first)).toMatchObject({
      tenantId: "platform",
      role: "fleet-admin",
    });
  });

  test("is made once when two servers start together", async () => {
    const made = await Promise.all(
      Array.from({ length: 4 }, () => bootstrapKey(db, newBootstrapToken(randomBytes, Date.now()))),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await db.sql`select from api_keys`).toHaveLength(1);
  });

  test("may be any long secret, and another one is refused", async () => {
    const token = "a secret of an operator's own choosing".replaceAll(" ", "-");
    await bootstrapKey(db, token, "ops");
    expect(await keys().authenticate(token)).toMatchObject({ tenantId: "ops" });
    expect(await keys().authenticate(`${token}!`)).toBeNull();
  });

  test("is not made again after it was revoked", async () => {
    await bootstrapKey(db, newBootstrapToken(randomBytes, Date.now()));
    await db.slots.run("update api_keys set revoked_at = 1");
    expect(await bootstrapKey(db, newBootstrapToken(randomBytes, Date.now()))).toBe(false);
  });

  test("of under 32 characters stops the start", async () => {
    await expect(bootstrapKey(db, "x".repeat(31))).rejects.toThrow(BootstrapError);
  });

  test("that begins like a key but is mistyped stops the start", async () => {
    await expect(bootstrapKey(db, `berth_${"x".repeat(70)}`)).rejects.toThrow(/checksum/);
  });
});
