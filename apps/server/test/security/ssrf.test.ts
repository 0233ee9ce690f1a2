/** Whatever an issuer answers, the server asks nobody else, reads little of it and waits for less. */
import {
  DISCOVERY,
  type FakeIssuer,
  KEYS,
  drip,
  fakeIssuer,
  flood,
  json,
  redirect,
} from "@berth/api/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, createLog, readConfig, serve } from "../../src/index.ts";
import { ADMIN_KEY, startServer } from "../harness.ts";

let issuer: FakeIssuer;
beforeAll(async () => {
  issuer = await fakeIssuer();
});
afterAll(() => issuer.close());
beforeEach(() => {
  issuer.asked.length = 0;
  for (const path of [DISCOVERY, KEYS]) issuer.answer(path, null);
});

const environment = (changes: Record<string, string> = {}) => ({
  PORT: "0",
  // Nobody is there: a start that is refused for the issuer's sake has not come to it.
  DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
  BERTH_OIDC_ISSUER: issuer.url,
  BERTH_OIDC_AUDIENCE: "https://berth.example.com",
  BERTH_OIDC_TENANT_CLAIM: "tenant",
  BERTH_OIDC_ROLE_CLAIM: "roles",
  ...changes,
});

async function refusalOf(changes?: Record<string, string>): Promise<string> {
  try {
    await serve(readConfig(environment(changes)), { log: createLog("silent") });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "none";
}

describe("settings and answers that lead elsewhere", () => {
  const keysAt = (uri: string) => () =>
    issuer.answer(DISCOVERY, (_request, response) =>
      json(response, { issuer: issuer.url, jwks_uri: uri }),
    );
  it.each([
    ["the keys are on another host", keysAt("https://keys.example.net/keys")],
    ["the keys are at a cloud's metadata service", keysAt("http://169.254.169.254/latest")],
    ["the keys are on another port of this machine", keysAt("http://127.0.0.1:5432/")],
    ["the keys are a file", keysAt("file:///etc/passwd")],
    ["discovery redirects", () => issuer.answer(DISCOVERY, redirect("http://169.254.169.254/"))],
    ["the keys redirect", () => issuer.answer(KEYS, redirect("http://169.254.169.254/"))],
    [
      "the issuer is another",
      () =>
        issuer.answer(DISCOVERY, (_request, response) =>
          json(response, { issuer: "https://login.example.net", jwks_uri: issuer.url + KEYS }),
        ),
    ],
  ])("the start is refused, and nobody else is asked, when %s", async (_when, prepare) => {
    prepare();
    expect(await refusalOf()).toMatch(/^BERTH_OIDC_ISSUER cannot be used: /);
    expect(issuer.asked.every((path) => path === DISCOVERY || path === KEYS)).toBe(true);
  });

  it.each([
    ["BERTH_OIDC_ISSUER", "http://login.example.com"],
    ["BERTH_OIDC_ISSUER", "http://169.254.169.254"],
    ["BERTH_OIDC_ISSUER", "http://127.0.0.1.example.com"],
    ["BERTH_OIDC_ISSUER", "file:///etc/passwd"],
    ["BERTH_OIDC_ISSUER", "https://user:secret@login.example.com"],
    ["BERTH_OIDC_JWKS_URI", "http://keys.example.com"],
    ["BERTH_OIDC_JWKS_URI", "ftp://127.0.0.1/keys"],
  ])("the start is refused before anything is asked when %s is %s", async (name, value) => {
    expect(await refusalOf({ [name]: value })).toMatch(new RegExp(`^${name} must be `));
    expect(issuer.asked).toEqual([]);
  });
});

it("an issuer that drips, or floods, holds up nobody who has a key, and is met when it comes to its senses", async () => {
  let skipped = 0;
  const elapsed = () => performance.now() + skipped;
  issuer.answer(KEYS, drip);
  const begun = performance.now();
  const server = await startServer({
    config: { oidc: { settings: issuer.settings(), clientId: null, tokenUri: null } },
    signInClock: { now: Date.now, elapsed },
  });
  try {
    // A drip is waited for 3 s; the rest is the start itself, with a database of its own.
    expect(performance.now() - begun).toBeLessThan(20_000);
    const statusOf = async (token: string) =>
      (await server.http("access.whoami", {}, { token })).status;
    const token = await issuer.token();
    expect(await statusOf(ADMIN_KEY)).toBe(200);
    expect(await statusOf(token)).toBe(503);
    const sent = { bytes: 0 };
    issuer.answer(KEYS, flood(10 * 1_048_576, sent));
    skipped += 30_000;
    expect(await statusOf(token)).toBe(503);
    // 256 kB were read; what the sockets in between hold comes on top.
    expect(sent.bytes).toBeLessThan(8 * 1_048_576);
    issuer.answer(KEYS, null);
    skipped += 30_000;
    expect(await statusOf(token)).toBe(200);
    expect(issuer.asked.filter((path) => path === KEYS)).toHaveLength(3);
    expect(performance.now() - begun).toBeGreaterThan(3_000);
  } finally {
    await server.stop();
  }
});
