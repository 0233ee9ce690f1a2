/** A key's text can be told offline, by a scanner as by the server; of it the database holds a hash. */
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { KEY_PATTERN } from "@berth/api";
import { makeToken } from "@berth/api/testing";
import { faultProxy, testDatabase } from "@berth/db/testing";
import { describe, expect, it } from "vitest";
import { ADMIN_KEY, startServer } from "../harness.ts";
import { dumpOf } from "./dump.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const SIGN_IN = readFileSync(join(ROOT, "apps/docs/sign-in.md"), "utf8");
const newKey = () => makeToken(`key_${"0123456789abcdefghjkmnpqrs"}`, randomBytes);
/** As the guide gives it: what a scanner of files is configured with. */
const published = () => new RegExp(/`(\\bberth_\S+\\b)`/.exec(SIGN_IN)?.[1] ?? "none", "g");

/** As the guide describes it: six digits of base62, the CRC32 of all before them. */
function checks(text: string): boolean {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const value = Array.from(text.slice(-6)).reduce(
    (sum, digit) => sum * 62 + digits.indexOf(digit),
    0,
  );
  return value === crc32(text.slice(0, -6));
}

describe("a scanner", () => {
  it("finds a key in a file by the published pattern, and knows by its checksum that it is one", () => {
    const keys = Array.from({ length: 100 }, newKey);
    const file = keys.map((key, n) => `export TOKEN_${n}="${key}" # ci\n{"a":"${key}"}`).join("\n");
    const found = file.match(published()) ?? [];
    expect(new Set(found)).toEqual(new Set(keys));
    expect(found).toHaveLength(200);
    expect(found.every(checks)).toBe(true);
    for (const key of keys) expect(key).toMatch(KEY_PATTERN);
  });

  it("has no false hit in 10 MB of source", () => {
    const names = execFileSync("git", ["ls-files", "-z", "*.ts", "*.md", "*.sql", "*.json"], {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 16_777_216,
    });
    const theirs = ["zod", "vitest", "fastify", "@types/node"].flatMap(sourcesOf);
    const ours = names.split("\0").filter((name) => name !== "");
    let bytes = 0;
    const hits: string[] = [];
    for (const file of [...ours.map((name) => join(ROOT, name)), ...theirs]) {
      const text = textOf(file);
      bytes += text.length;
      for (const hit of text.match(published()) ?? []) hits.push(`${file}: ${hit}`);
    }
    expect(hits).toEqual([]);
    expect(bytes).toBeGreaterThan(10_000_000);
  });
});

/** Of a package that is installed for tests or the server. */
function sourcesOf(name: string): string[] {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(?:d\.[cm]?ts|[cm]?js)$/.test(file))
    .map((file) => join(folder, file));
}

/** Of a file that is about to be removed, nothing. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

it("a mistyped key costs no query: without a database it is refused, and not told to come again", async () => {
  const database = await testDatabase();
  const proxy = await faultProxy(database.url);
  const server = await startServer({ database: { ...database, url: proxy.url } });
  const { key, secret } = await server.admin.access.createKey({
    tenantId: "platform",
    role: "tenant-viewer",
    name: "typed",
  });
  const ask = async (token: string) =>
    (await server.http("access.whoami", {}, { token })).body["code"];
  try {
    // The server has just seen the key, and remembers it.
    expect(await ask(secret)).toBeUndefined();
    proxy.set({ kind: "refuse" });
    proxy.cutAll();
    const { refused } = proxy.counts;
    const typos = Array.from(secret, (was, at) => {
      const typo = was === "x" ? "y" : "x";
      return secret.slice(0, at) + typo + secret.slice(at + 1);
    });
    const mistyped = [...typos, secret.slice(0, -1), `${secret}0`, "short", ""];
    const asked = await Promise.all(mistyped.map(ask));
    expect(asked).toEqual(asked.map(() => "UNAUTHENTICATED"));
    // What does ask the database: a key that is whole, and that nobody has been seen with.
    expect(await ask(newKey())).toBe("UNAVAILABLE");
    // And no less one whose id is a key's and whose secret is not: nothing tells the two apart.
    expect(await ask(makeToken(`key_${key.id.slice(4)}`, randomBytes))).toBe("UNAVAILABLE");
    expect(proxy.counts.refused).toBeGreaterThan(refused);
  } finally {
    await server.stop();
    await proxy.close();
    await database.close();
  }
});

it("the whole database holds no key that was made, nor its secret in another spelling: SHA-256 of each", async () => {
  const server = await startServer();
  try {
    const { admin } = server;
    const made = await Promise.all(
      (["tenant-viewer", "tenant-operator", "tenant-admin", "fleet-admin"] as const).map((role) =>
        admin.access.createKey({ tenantId: "platform", role, name: `a ${role}` }),
      ),
    );
    for (const { secret } of made) {
      await server.http("access.whoami", {}, { token: secret });
      // Where it does not belong: what is refused may not be kept either.
      await server.http("access.revokeKey", { keyId: secret }, { token: secret });
      await server.http("fleet.listSites", { tenantId: secret }, { token: secret });
      await server.http("reservations.release", { tenantId: secret, reservationId: secret });
    }
    const dump = await dumpOf(server.database);
    expect(dump).toContain(made[0]?.key.id);
    for (const text of [ADMIN_KEY, ...made.map(({ secret }) => secret)])
      for (const spelling of spellings(text)) expect(dump.includes(spelling)).toBe(false);
    const rows = await server.database.sql<{ hash: Uint8Array }[]>`
      select secret_hash as hash from api_keys order by id`;
    const hashes = rows.map(({ hash }) => Buffer.from(hash).toString("hex"));
    for (const text of [ADMIN_KEY, ...made.map(({ secret }) => secret)])
      expect(hashes).toContain(createHash("sha256").update(text).digest("hex"));
    expect(hashes).toHaveLength(made.length + 1);
  } finally {
    await server.stop();
  }
});

/** The text, its secret alone, and both in the ways in which the database or JSON writes bytes. */
function spellings(text: string): string[] {
  const parts = [text, text.slice(-38, -6)];
  return parts.flatMap((part) => [
    part,
    Buffer.from(part).toString("hex"),
    Buffer.from(part).toString("base64").replace(/=+$/, ""),
    Array.from(part).toReversed().join(""),
  ]);
}
