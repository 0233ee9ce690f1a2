/** Tokens against a real issuer on this machine, its keys and two clocks that the tests move. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../errors.ts";
import {
  DISCOVERY,
  type FakeIssuer,
  KEYS,
  fakeIssuer,
  flood,
  hangUp,
  json,
  redirect,
} from "../../testing/issuer.ts";
import { type LogLine, logInto } from "../../testing/test-api.ts";
import { IssuerContradiction } from "./fetch-json.ts";
import { type Oidc, createOidc } from "./oidc.ts";
import type { OidcSettings } from "./settings.ts";

const MINUTE = 60_000;
let issuer: FakeIssuer;
let lines: LogLine[];
const clock = { at: Date.now(), now: () => clock.at, elapsed: () => clock.at - 1e12 };
const pass = (ms: number) => void (clock.at += ms);

beforeAll(async () => {
  issuer = await fakeIssuer(() => clock.at);
});
afterAll(() => issuer.close());
beforeEach(() => {
  lines = [];
  issuer.asked.length = 0;
  for (const path of [DISCOVERY, KEYS, "/elsewhere"]) issuer.answer(path, null);
});

const start = (changes?: Partial<OidcSettings>): Promise<Oidc> =>
  createOidc({ settings: issuer.settings(changes), log: logInto(lines), clock });

/** What becomes of the token: its caller's name, the reason, or UNAVAILABLE. */
async function outcome(oidc: Oidc, token: string): Promise<string> {
  try {
    const found = await oidc.authenticate(token);
    return "refused" in found ? found.refused : found.name;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

const asked = (path: string) => issuer.asked.filter((each) => each === path).length;

describe("a good token", () => {
  test("stands for its subject, on its tenant, until its end", async () => {
    const oidc = await start();
    const exp = Math.floor(clock.at / 1_000) + 60;
    expect(await oidc.authenticate(await issuer.token({ exp }))).toEqual({
      id: `oidc ${issuer.url} ada`,
      credential: "token",
      name: "ada",
      tenantId: "lab",
      role: "tenant-viewer",
      scope: null,
      expiresAt: exp * 1_000,
    });
  });

  test("is over 30 s after its `exp`, whether or not it was seen before", async () => {
    const oidc = await start();
    const exp = Math.floor(clock.at / 1_000) + 60;
    const seen = await issuer.token({ exp });
    expect(await outcome(oidc, seen)).toBe("ada");
    pass(exp * 1_000 - clock.at + 29_000);
    expect(await outcome(oidc, seen)).toBe("ada");
    pass(1_000);
    expect(await outcome(oidc, seen)).toBe("expired");
    expect(await outcome(oidc, seen)).toBe("expired");
  });

  test("may be a plain JWT, have several audiences, and be signed by any allowed algorithm", async () => {
    const rsa = await issuer.addKey("RS256");
    const ec = await issuer.addKey("ES256");
    const oidc = await start();
    const aud = ["other", "https://berth.example.com"];
    for (const header of [{ typ: "JWT" }, { typ: undefined }, { typ: "application/at+jwt" }])
      for (const key of [rsa, ec])
        expect(await outcome(oidc, await issuer.token({ aud }, { key, header }))).toBe("ada");
    issuer.removeKey(rsa.kid);
    issuer.removeKey(ec.kid);
  });

  test("is checked once, however many present it at once and after", async () => {
    const oidc = await start();
    const token = await issuer.token();
    const all = await Promise.all(Array.from({ length: 20 }, () => oidc.authenticate(token)));
    expect(new Set(all).size).toBe(1);
    expect(await oidc.authenticate(token)).toBe(all[0]);
  });

  test("needs no key of its own named while the issuer has one", async () => {
    const oidc = await start();
    expect(await outcome(oidc, await issuer.token({}, { header: { kid: undefined } }))).toBe("ada");
  });
});

describe("keys of the issuer", () => {
  test("that are new are found with the first token that they sign", async () => {
    const oidc = await start();
    pass(MINUTE);
    const key = await issuer.addKey();
    expect(await outcome(oidc, await issuer.token())).toBe("ada");
    expect(asked(KEYS)).toBe(2);
    issuer.removeKey(key.kid);
  });

  test("are asked for once in 30 s, however many tokens name unknown ones", async () => {
    const oidc = await start();
    const token = await issuer.token();
    const [, payload, signature] = token.split(".");
    const unknown = (n: number) => {
      const header = { alg: "ES256", kid: `no-${n}`, typ: "at+jwt" };
      return `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`;
    };
    for (let second = 0; second < 120; second += 1) {
      pass(1_000);
      const tokens = Array.from({ length: 20 }, (_, n) => unknown(second * 20 + n));
      const found = await Promise.all(tokens.map((each) => outcome(oidc, each)));
      expect(new Set(found)).toEqual(new Set(["unknown-key"]));
    }
    // Two minutes: at 30, 60, 90 and 120 s, after the one of the start.
    expect(asked(KEYS)).toBe(5);
    expect(asked(DISCOVERY)).toBe(1);
  });

  test("that were taken out are refused within 10 minutes, to tokens seen before as well", async () => {
    const key = await issuer.addKey();
    const oidc = await start();
    const token = await issuer.token();
    expect(await outcome(oidc, token)).toBe("ada");
    issuer.removeKey(key.kid);
    let minutes = 0;
    // A call a minute, as anybody's who goes on working.
    for (; (await outcome(oidc, token)) === "ada"; minutes += 1) {
      expect(minutes).toBeLessThan(10);
      pass(MINUTE);
      await expect.poll(() => asked(KEYS)).toBeGreaterThan(minutes >= 5 ? 1 : 0);
    }
    expect(await outcome(oidc, token)).toBe("unknown-key");
  });

  test("that are known go on working while the issuer is away, for 10 minutes; then nobody can know", async () => {
    const oidc = await start();
    const seen = await issuer.token();
    const fresh = await issuer.token({ sub: "eve" });
    expect(await outcome(oidc, seen)).toBe("ada");
    issuer.answer(KEYS, hangUp);
    pass(9 * MINUTE);
    expect(await outcome(oidc, seen)).toBe("ada");
    expect(await outcome(oidc, fresh)).toBe("eve");
    pass(MINUTE);
    expect(await outcome(oidc, seen)).toBe("UNAVAILABLE");
    expect(await outcome(oidc, fresh)).toBe("UNAVAILABLE");
    issuer.answer(KEYS, null);
    pass(MINUTE);
    expect(await outcome(oidc, seen)).toBe("ada");
    expect(lines.map(({ message }) => message)).toContain("the issuer's keys could not be read");
  });

  test("that nobody has heard of are not called wrong while the issuer is away", async () => {
    const oidc = await start();
    const key = await issuer.addKey();
    const token = await issuer.token();
    issuer.removeKey(key.kid);
    issuer.answer(KEYS, hangUp);
    pass(MINUTE);
    expect(await outcome(oidc, token)).toBe("UNAVAILABLE");
    expect(await outcome(oidc, token)).toBe("UNAVAILABLE");
    expect(asked(KEYS)).toBe(2);
    issuer.answer(KEYS, null);
    pass(MINUTE);
    expect(await outcome(oidc, token)).toBe("unknown-key");
  });

  test("that cannot be read at the start are read later, and everything else works until then", async () => {
    issuer.answer(DISCOVERY, hangUp);
    const oidc = await start();
    expect(await outcome(oidc, await issuer.token())).toBe("UNAVAILABLE");
    expect(asked(DISCOVERY)).toBe(1);
    issuer.answer(DISCOVERY, null);
    pass(30_000);
    expect(await outcome(oidc, await issuer.token())).toBe("ada");
  });

  test("are of use only when they check signatures: no private, no enormous and no other ones", async () => {
    const { kid, public: jwk } = issuer.key();
    const huge = { kty: "RSA", kid, e: "AQAB", n: "x".repeat(5_000), alg: "RS256" };
    const secret = { kty: "oct", kid, k: "c2VjcmV0" };
    issuer.answer(KEYS, (_request, response) =>
      json(response, {
        keys: [secret, huge, { ...jwk, kid, d: "AQAB" }, { ...jwk, kid, use: "enc" }],
      }),
    );
    expect(await outcome(await start(), await issuer.token())).toBe("unknown-key");
  });
});

describe("an issuer that answers something else", () => {
  const other = (jwks_uri: string) => (_request: unknown, response: Parameters<typeof json>[0]) =>
    json(response, { issuer: issuer.url, jwks_uri });

  test.each([
    ["keys on another host", () => other("https://keys.example.net/keys")],
    ["keys on another port", () => other("http://127.0.0.1:1/keys")],
    ["keys at a cloud's metadata service", () => other("http://169.254.169.254/latest/meta-data")],
    ["keys in a file", () => other("file:///etc/passwd")],
    ["keys behind a name and password", () => other(issuer.url.replace("//", "//a:b@") + KEYS)],
    [
      "another issuer",
      () => (_: unknown, response: Parameters<typeof json>[0]) =>
        json(response, { issuer: `${issuer.url}/`, jwks_uri: issuer.url + KEYS }),
    ],
    ["a redirect", () => redirect(`${issuer.url}/elsewhere`)],
  ])("%s: is not followed, and the start is refused", async (_name, answer) => {
    issuer.answer(DISCOVERY, answer());
    await expect(start()).rejects.toThrow(IssuerContradiction);
    expect(issuer.asked).toEqual([DISCOVERY]);
  });

  test("a redirect in place of keys is not followed either", async () => {
    issuer.answer(KEYS, redirect(`${issuer.url}/elsewhere`));
    await expect(start()).rejects.toThrow("is not followed");
    expect(issuer.asked).toEqual([DISCOVERY, KEYS]);
  });

  test("after the start it is logged and ignored, and what is known holds", async () => {
    const oidc = await start();
    issuer.answer(KEYS, redirect(`${issuer.url}/elsewhere`));
    pass(6 * MINUTE);
    expect(await outcome(oidc, await issuer.token())).toBe("ada");
    await expect.poll(() => lines.length).toBe(1);
    expect(asked("/elsewhere")).toBe(0);
  });

  test.each([
    [
      "no JSON",
      (_: unknown, response: { end(text: string): unknown }) => void response.end("<html>"),
    ],
    [
      "JSON that is no such document",
      (_: unknown, response: Parameters<typeof json>[0]) => json(response, [1]),
    ],
    [
      "that there is nothing",
      (_: unknown, response: { writeHead(code: number): { end(): unknown } }) =>
        void response.writeHead(503).end(),
    ],
  ])("%s: nothing is known, and the start goes on", async (_name, answer) => {
    for (const path of [DISCOVERY, KEYS]) {
      issuer.answer(path, answer);
      expect(await outcome(await start(), await issuer.token())).toBe("UNAVAILABLE");
      issuer.answer(path, null);
    }
  });

  test("ten megabytes: no more than 256 kB of them are waited for", async () => {
    const sent = { bytes: 0 };
    issuer.answer(KEYS, flood(10 * 1_048_576, sent));
    expect(await outcome(await start(), await issuer.token())).toBe("UNAVAILABLE");
    // What sockets hold between the two comes on top.
    expect(sent.bytes).toBeLessThan(8 * 1_048_576);
    expect(JSON.stringify(lines)).toContain("more than 262144 bytes");
  });

  test("keys elsewhere are taken where the operator says so, and discovery is not asked", async () => {
    issuer.answer("/elsewhere", (_request, response) => {
      const { kid, alg, public: jwk } = issuer.key();
      json(response, { keys: [{ ...jwk, kid, alg }] });
    });
    const oidc = await start({ jwksUri: `${issuer.url}/elsewhere` });
    expect(await outcome(oidc, await issuer.token())).toBe("ada");
    expect(issuer.asked).toEqual(["/elsewhere"]);
  });
});
