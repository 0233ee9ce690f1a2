import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { freshId } from "@berth/domain";
import { describe, expect, test } from "vitest";
import { KEY_PATTERN, hashToken, keyIdOf, makeToken, sameHash } from "./token.ts";

const keyId = freshId("key", 1_800_000_000_000, randomBytes(10));

describe("a key's text", () => {
  test("has the published form and names its id", () => {
    const token = makeToken(keyId, randomBytes);
    expect(token).toMatch(KEY_PATTERN);
    expect(keyIdOf(token)).toBe(keyId);
  });

  test("ends in the CRC32 of the rest, so a scanner can check it offline", () => {
    const token = makeToken(keyId, randomBytes);
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const value = token
      .slice(-6)
      .split("")
      .reduce((sum, c) => sum * 62 + digits.indexOf(c), 0);
    expect(value).toBe(crc32(token.slice(0, -6)));
  });

  test("carries at least 160 random bits, and no character is preferred", () => {
    expect(32 * Math.log2(62)).toBeGreaterThan(160);
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i += 1)
      for (const c of makeToken(keyId, randomBytes).slice(33, 65))
        counts.set(c, (counts.get(c) ?? 0) + 1);
    const expected = (2_000 * 32) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(250);
  });

  test("with any one character mistyped names nothing", () => {
    const token = makeToken(keyId, randomBytes);
    for (let at = 0; at < token.length; at += 1) {
      const typo = token[at] === "a" ? "b" : "a";
      expect(keyIdOf(token.slice(0, at) + typo + token.slice(at + 1))).toBeNull();
    }
  });

  test("in another form names nothing", () => {
    const token = makeToken(keyId, randomBytes);
    for (const text of ["", "berth_", `${token} `, ` ${token}`, `${token}\n`, token.slice(0, -1)])
      expect(keyIdOf(text)).toBeNull();
  });
});

test("hashes of other lengths or bytes are not the same", () => {
  const hash = hashToken("a");
  expect(sameHash(hash, hashToken("a"))).toBe(true);
  expect(sameHash(hash, hashToken("b"))).toBe(false);
  expect(sameHash(hash, hash.subarray(1))).toBe(false);
});
