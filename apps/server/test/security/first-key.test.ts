/** A bootstrap token makes one key, ever; a weak one stops the start. When all keys are lost, the database gives one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actors, expectHealthy, spawnBerth, spawnEmbedded, spawnServer } from "../harness.ts";
import { dumpOf } from "./dump.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const [FIRST, SECOND, THIRD] = ["one", "two", "three"].map((n) =>
  `bootstrap-token-${n}`.padEnd(40, "7"),
);

async function whoami(url: string, token: string): Promise<number> {
  return (await actors(url).http("access.whoami", {}, { token })).status;
}

async function berth(args: readonly string[], environment: Record<string, string>) {
  const command = spawnBerth(args, { PORT: "0", ...environment });
  const { code } = await command.ended;
  return { code, out: command.stdout().trim(), err: command.stderr().trim() };
}

describe("a bootstrap token", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  it("of two servers that start at once with two of them makes one key; a later start with a third makes none", async () => {
    const servers = await Promise.all(
      [FIRST, SECOND].map((token) =>
        spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: String(token) }),
      ),
    );
    const later = await spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: String(THIRD) });
    const tokens = [FIRST, SECOND, THIRD].map(String);
    for (const { url } of [...servers, later]) {
      const answers = await Promise.all(tokens.map((token) => whoami(url, token)));
      expect(answers.filter((status) => status === 200)).toHaveLength(1);
      expect(answers.filter((status) => status === 401)).toHaveLength(2);
      expect(answers[2]).toBe(401);
    }
    const keys = await database.sql`select name, role from api_keys`;
    expect(keys).toEqual([{ name: "bootstrap", role: "fleet-admin" }]);
    const said = [...servers, later].map((server) => server.stderr());
    expect(said.filter((text) => text.includes("first fleet-admin key"))).toHaveLength(1);
    for (const server of [...servers, later])
      for (const token of tokens) expect(server.stdout() + server.stderr()).not.toContain(token);
    await Promise.all([...servers, later].map((server) => server.kill()));
  });

  it("does not come back when the key that it made has been ended", async () => {
    await database.sql`update api_keys set revoked_at = 1`;
    const server = await spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: String(FIRST) });
    expect(await whoami(server.url, String(FIRST))).toBe(401);
    expect(await database.sql`select 1 from api_keys`).toHaveLength(1);
    await server.kill();
  });

  it.each([
    [
      "of 31 characters",
      "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P",
      "BERTH_BOOTSTRAP_TOKEN must be at least 32",
    ],
    [
      "with a space",
      `two words ${"x".repeat(30)}`,
      "BERTH_BOOTSTRAP_TOKEN must be printable ASCII",
    ],
    [
      "that is a mistyped key",
      `berth_${"0".repeat(26)}_${"A".repeat(38)}`,
      "its checksum is wrong",
    ],
  ])("%s stops the start, and is not repeated", async (_what, token, says) => {
    const empty = await testDatabase();
    const environment = { DATABASE_URL: empty.url, BERTH_BOOTSTRAP_TOKEN: token };
    const { code, out, err } = await berth(["serve"], environment);
    expect([code, err.includes(says), (out + err).includes(token)]).toEqual([2, true, false]);
    expect(await empty.sql`select 1 from api_keys`).toEqual([]);
    await empty.close();
  });

  it("is nowhere in what is published: there is no example to be left in place", () => {
    const names = execFileSync("git", ["ls-files", "-z", "*.md", "*.yml", "*.yaml", "*.json"], {
      cwd: ROOT,
      encoding: "utf8",
    }).split("\0");
    const hits = names
      .filter((name) => name !== "")
      .flatMap((name) => {
        const text = readFileSync(join(ROOT, name), "utf8");
        return text.match(/BERTH_BOOTSTRAP_TOKEN[=:]\s*["']?[\w+/-]{32,}/g) ?? [];
      });
    expect(hits).toEqual([]);
  });
});

describe("when every key is lost", () => {
  it("keys recover makes one in the database, good at once, in the audit trail as the operator's", async () => {
    const database = await testDatabase();
    const server = await spawnServer(database.url, { BERTH_BOOTSTRAP_TOKEN: String(FIRST) });
    await database.sql`update api_keys set revoked_at = 1`;
    const here = { DATABASE_URL: database.url, BERTH_PLATFORM_ORG: "platform" };
    const { code, out, err } = await berth(["keys", "recover"], here);
    expect([code, out.length]).toEqual([0, 71]);
    expect(err).toMatch(/^key_\w{26}: fleet-admin of platform, named recovered; .*shown this once/);
    expect(err).not.toContain(out);
    const { admin } = actors(server.url, out);
    const me = await admin.access.whoami({});
    expect(me).toMatchObject({ tenantId: "platform", role: "fleet-admin" });
    const { entries } = await admin.access.audit({ tenantId: "platform" });
    expect(entries[0]).toMatchObject({
      principal: "operator",
      method: "access.recoverKey",
      outcome: "ok",
      target: err.slice(0, err.indexOf(":")),
      count: 1,
    });
    const { keys } = await admin.access.listKeys({ tenantId: "platform" });
    expect(keys[0]).toMatchObject({ name: "recovered", createdBy: "operator", expiresAt: null });
    const told = await database.sql`select data from events where type = 'key.created'`;
    expect(told).toMatchObject([{ data: { name: "recovered", role: "fleet-admin" } }]);
    expect((await dumpOf(database)).includes(out)).toBe(false);
    expect(server.stdout() + server.stderr()).not.toContain(out);
    await expectHealthy(database.url);
    await server.kill();
    await database.close();
  });

  it("on an embedded database too, beside its server or without, and keeps it for the commands", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-lost-"));
    const here = { BERTH_DATA_DIR: folder };
    const file = join(folder, "admin-key");
    const first = await spawnEmbedded(folder);
    rmSync(file);
    const beside = await berth(["keys", "recover"], here);
    expect(await whoami(first.url, beside.out)).toBe(200);
    expect(beside.err).toContain(`It is kept in ${file}`);
    expect(readFileSync(file, "utf8")).toBe(`${beside.out}\n`);
    const listed = await berth(["keys", "list", "--tenant", "platform"], {
      ...here,
      BERTH_URL: first.url,
    });
    expect(listed.out).toContain("recovered");
    await first.kill();
    const without = await berth(["keys", "recover"], here);
    expect([without.code, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
    const second = await spawnEmbedded(folder);
    expect(await whoami(second.url, without.out)).toBe(200);
    expect(await whoami(second.url, beside.out)).toBe(200);
    await second.kill();
    rmSync(folder, { recursive: true, force: true });
  }, 180_000);

  it("says what is missing where there is no database, or none of ours; and is in the help", async () => {
    const empty = await testDatabase({ empty: true });
    const none = await berth(["keys", "recover"], { DATABASE_URL: empty.url });
    expect(none).toMatchObject({ code: 2, out: "" });
    expect(none.err).toContain("run `berth migrate` first");
    await empty.close();
    const nowhere = await berth(["keys", "recover"], {
      BERTH_DATA_DIR: join(tmpdir(), "not-there"),
    });
    expect(nowhere).toMatchObject({ code: 2, out: "" });
    expect(nowhere.err).toContain("no database in");
    const help = await berth(["keys", "recover", "--help"], {});
    for (const word of ["DATABASE_URL", "BERTH_DATA_DIR", "BERTH_PLATFORM_ORG", "operator"])
      expect(help.out).toContain(word);
  });
});
