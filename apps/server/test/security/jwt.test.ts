/** A token that is not wholly right is refused as any other; only the server's log says what was wrong with it. */
import { type FakeIssuer, KEYS, type SigningKey, fakeIssuer } from "@berth/api/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, startServer } from "../harness.ts";
import { type Hostile, hostileTokens } from "./hostile-tokens.ts";
import { rawRequest, sendRaw } from "./raw-socket.ts";
import { SURFACES, type Surface, answerOf, askOf } from "./surfaces.ts";

const clock = {
  at: Date.now(),
  skipped: 0,
  now: () => clock.at,
  elapsed: () => performance.now() + clock.skipped,
};
const lines: string[] = [];
let server: TestServer;
let issuer: FakeIssuer;
let stranger: FakeIssuer;
let ec: SigningKey;
let hostile: Hostile[];
beforeAll(async () => {
  issuer = await fakeIssuer(clock.now);
  stranger = await fakeIssuer(clock.now);
  const rsa = await issuer.addKey("RS256");
  ec = await issuer.addKey("ES256");
  hostile = await hostileTokens({ issuer, ec, rsa, stranger });
  server = await startServer({
    config: {
      oidc: { settings: issuer.settings(), clientId: null, tokenUri: null },
      trustedProxies: ["127.0.0.1"],
    },
    signInClock: clock,
    lines,
  });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([issuer.close(), stranger.close()]);
});

const ANY_NODE = `node_${"0".repeat(26)}`;
const asks: Readonly<Record<Surface, ReturnType<typeof askOf>>> = {
  tRPC: askOf("tRPC", "access.whoami", {}),
  HTTP: askOf("HTTP", "access.whoami", {}),
  REST: askOf("REST", "unitReservations.list", { nodeId: ANY_NODE }),
};
const present = (token: string | null, surface: Surface = "HTTP") =>
  answerOf(server.url, asks[surface], token);
const unusable = () => `berth_${"0".repeat(26)}_${"x".repeat(38)}`;

describe("a token", () => {
  it("that is right is taken, so that the others are refused for what is wrong with them", async () => {
    const answer = await present(await issuer.token({}, { key: ec }));
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { name: "ada" }]);
  });

  it("that is not wholly right is refused on every surface as a mistyped key is, whatever is wrong", async () => {
    expect(hostile.length).toBeGreaterThanOrEqual(60);
    for (const surface of SURFACES) {
      const expected = await present(unusable(), surface);
      expect(expected.status).toBe(401);
      const answers = await Promise.all(hostile.map(({ token }) => present(token, surface)));
      for (const [at, answer] of answers.entries())
        expect([hostile[at]?.how, answer]).toEqual([hostile[at]?.how, expected]);
    }
  });

  it("is refused with its reason in the log, and is in no line of it", async () => {
    const written: string[] = [];
    for (const { how, reason, token } of hostile) {
      lines.length = 0;
      await present(token);
      expect([how, reasons()]).toEqual([how, [reason]]);
      written.push(...lines);
    }
    const text = written.join("\n");
    for (const { token } of hostile)
      for (const part of token.split(".").filter(({ length }) => length > 8))
        expect(text).not.toContain(part);
  });

  it("makes the server ask nobody but its issuer, and that for its keys", async () => {
    issuer.asked.length = 0;
    clock.skipped += 31_000;
    for (const { token } of hostile) await present(token);
    expect(issuer.asked).toEqual([KEYS]);
    expect(stranger.asked).toEqual([]);
  });

  it("with a kid of 64 kB is more than a request's headers may be", async () => {
    const token = await issuer.token({}, { key: ec, header: { kid: "k".repeat(65_536) } });
    const request = rawRequest(`POST ${asks.HTTP.path}`, [`authorization: Bearer ${token}`]);
    expect((await sendRaw(server.url, request)).statuses).toEqual([431]);
  });
});

/** Of the calls that were refused, why. */
function reasons(): unknown[] {
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .flatMap(({ msg, reason }) => (msg === "a call without a valid key" ? [reason] : []));
}
