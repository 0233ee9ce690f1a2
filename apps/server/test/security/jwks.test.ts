/** Keys of the issuer come, go and cannot be had; and with them whoever signed in by them, streams included. */
import { createBerth, isBerthError } from "@berth/client";
import { type FakeIssuer, KEYS, fakeIssuer, hangUp } from "@berth/api/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { METRICS_TOKEN, counter } from "../faults/together.ts";
import { ADMIN_KEY, type TestServer, canaries, startServer } from "../harness.ts";
import { answerOf, askOf } from "./surfaces.ts";

const MINUTE = 60_000;
const clock = { at: Date.now(), now: () => clock.at, elapsed: () => clock.at };
const pass = (ms: number) => void (clock.at += ms);
let server: TestServer;
let issuer: FakeIssuer;
beforeAll(async () => {
  issuer = await fakeIssuer(clock.now);
  server = await startServer({
    config: {
      oidc: { settings: issuer.settings(), clientId: null, tokenUri: null },
      metricsToken: METRICS_TOKEN,
      trustedProxies: ["127.0.0.1"],
    },
    signInClock: clock,
  });
  await server.admin.fleet.putTenant({ tenantId: "lab" });
});
afterAll(async () => {
  await server.stop();
  await issuer.close();
});
beforeEach(async () => {
  // The server knows the keys as they are now, and may ask again.
  issuer.answer(KEYS, null);
  pass(11 * MINUTE);
  const code = await codeOf(await tokenOf("someone"));
  if (code !== "OK") throw new Error(`a good token was answered ${code}`);
  pass(MINUTE);
  issuer.asked.length = 0;
});

async function tokenOf(sub: string, claims: object = {}): Promise<string> {
  const token = await issuer.token({ sub, ...claims });
  canaries.knows(token, { tenantId: "lab", role: "tenant-viewer" });
  return token;
}
const codeOf = async (token: string) =>
  (await answerOf(server.url, askOf("HTTP", "access.whoami", {}), token)).code;
const asked = () => issuer.asked.filter((path) => path === KEYS).length;

describe("the issuer's keys", () => {
  it("are asked for again when one is new, and 1,000 tokens with unknown ones ask no more than once in 30 s", async () => {
    const { kid } = await issuer.addKey();
    expect(await codeOf(await tokenOf("rotated"))).toBe("OK");
    expect(asked()).toBe(1);
    const [head = "", ...rest] = (await tokenOf("unknown")).split(".");
    const header = JSON.parse(Buffer.from(head, "base64url").toString()) as object;
    for (let second = 0; second < 10; second += 1) {
      pass(1_000);
      // Ten callers, each with ten tokens.
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, caller) => {
          const codes: string[] = [];
          for (let n = 0; n < 10; n += 1) {
            const text = JSON.stringify({ ...header, kid: `${second}-${caller}-${n}` });
            codes.push(await codeOf([Buffer.from(text).toString("base64url"), ...rest].join(".")));
          }
          return codes;
        }),
      );
      expect(new Set(answers.flat())).toEqual(new Set(["UNAUTHENTICATED"]));
    }
    expect(asked()).toBe(1);
    issuer.removeKey(kid);
  });

  it("go on being good while the issuer is away; then nobody can know, and that is what is said", async () => {
    const token = await tokenOf("ada");
    expect(await codeOf(token)).toBe("OK");
    issuer.answer(KEYS, hangUp);
    pass(8 * MINUTE);
    expect(await codeOf(token)).toBe("OK");
    pass(MINUTE);
    expect(await codeOf(token)).toBe("UNAVAILABLE");
    // Keys of our own need no issuer.
    expect(await codeOf(ADMIN_KEY)).toBe("OK");
    issuer.answer(KEYS, null);
    pass(MINUTE);
    expect(await codeOf(token)).toBe("OK");
  });

  it("are refused within 10 minutes once they are taken out", async () => {
    const { kid } = await issuer.addKey();
    const token = await tokenOf("gone");
    expect(await codeOf(token)).toBe("OK");
    issuer.removeKey(kid);
    const left = clock.at;
    while ((await codeOf(token)) === "OK") {
      pass(MINUTE / 2);
      expect(clock.at - left).toBeLessThanOrEqual(10 * MINUTE);
    }
    expect(await codeOf(token)).toBe("UNAUTHENTICATED");
  });
});

describe("a stream that was opened with a token", () => {
  /** Reads over both surfaces until each is ended by the server, and how. */
  async function opened(token: string): Promise<{ readonly ended: Promise<unknown[]> }> {
    const berth = createBerth({ url: server.url, token });
    const watching = (async () => {
      try {
        for await (const event of berth.reservations.watch({ tenantId: "lab" })) void event;
        return "over";
      } catch (error) {
        return isBerthError(error) ? error.code : error;
      }
    })();
    const stream = await fetch(`${server.url}/api/compute/events/stream?tenantId=lab`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(stream.status).toBe(200);
    await expect.poll(() => counter(server.url, "berth_streams ")).toBe(2);
    const read = stream.text().then(
      () => "over",
      () => "over",
    );
    return { ended: Promise.all([watching, read]) };
  }

  async function endsWithin5Seconds({ ended }: { readonly ended: Promise<unknown[]> }) {
    const begun = performance.now();
    expect(await ended).toEqual(["UNAUTHENTICATED", "over"]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(await counter(server.url, "berth_streams ")).toBe(0);
  }

  it("ends when the token does", async () => {
    const streams = await opened(await tokenOf("ada", { exp: Math.floor(clock.at / 1_000) + 60 }));
    pass(60_000 + 30_000);
    await endsWithin5Seconds(streams);
  });

  it("ends when the key that signed it is taken out of the set", async () => {
    const { kid } = await issuer.addKey();
    const streams = await opened(await tokenOf("ada"));
    issuer.removeKey(kid);
    // The server reads the keys every 5 minutes: by now it is to.
    pass(5 * MINUTE);
    await endsWithin5Seconds(streams);
  });
});
