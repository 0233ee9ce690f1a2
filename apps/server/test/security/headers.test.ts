/** What every answer tells a browser, and whom the server believes about where a request came from. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, pool, startServer } from "../harness.ts";
import { ConfigError, readConfig } from "../../src/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ config: { metricsToken: "m".repeat(32) } });
});
afterAll(() => server.stop());

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> };
const ask = (path: string, init: Init = {}, from = server) => fetch(from.url + path, init);
const key = { authorization: `Bearer ${ADMIN_KEY}` };
const json = { ...key, "content-type": "application/json" };

/** A path of each kind: answered, refused, public, not there, by the wrong verb. */
const KINDS: readonly (readonly [string, string, Init])[] = [
  ["a call", "/api/compute/access/whoami", { method: "POST", headers: json, body: "{}" }],
  ["a call of tRPC", "/trpc/access.whoami", { headers: key }],
  ["a refusal", "/api/compute/access/whoami", { method: "POST" }],
  ["a refusal of tRPC", "/trpc/access.whoami", {}],
  ["a list of unit reservations", "/v1/nodes/x/reservations", { headers: key }],
  ["liveness", "/healthz", {}],
  ["the contract", "/openapi.json", {}],
  ["the metrics", "/metrics", { headers: { authorization: `Bearer ${"m".repeat(32)}` } }],
  ["nothing", "/nowhere", {}],
  ["a path that cannot be read", "/%zz", {}],
  ["another verb", "/healthz", { method: "DELETE" }],
];

describe("every answer", () => {
  it.each(KINDS)("keeps a browser safe: %s", async (_kind, path, init) => {
    const { headers } = await ask(path, init);
    const shown = (name: string) => headers.get(name);
    expect(shown("content-security-policy")).toBe(
      "default-src 'none';base-uri 'none';frame-ancestors 'none'",
    );
    expect(shown("x-content-type-options")).toBe("nosniff");
    expect(shown("x-frame-options")).toBe("SAMEORIGIN");
    expect(shown("referrer-policy")).toBe("no-referrer");
    expect(shown("cross-origin-resource-policy")).toBe("same-origin");
    // The contract is everybody's, and asked for anew each time.
    expect(shown("cache-control")).toBe(path === "/openapi.json" ? "no-cache" : "no-store");
    expect(shown("strict-transport-security")).toBeNull();
    for (const name of ["x-powered-by", "server", "via"]) expect(shown(name)).toBeNull();
  });

  it.each(KINDS)("may be read by no other origin: %s", async (_kind, path, init) => {
    for (const origin of ["https://evil.test", "null", "http://sub.127.0.0.1:80", server.url]) {
      const answered = await ask(path, { ...init, headers: { ...init.headers, origin } });
      const asked = await ask(path, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
      for (const { headers } of [answered, asked])
        for (const name of headers.keys()) expect(name).not.toMatch(/^access-control-/);
    }
  });
});

describe("who forwards", () => {
  const forwarded = (address: string) => ({
    ...json,
    "x-forwarded-for": address,
    "x-forwarded-proto": "https",
    "x-forwarded-host": "evil.test",
  });
  const whoami = async (from: TestServer, address: string) => {
    const init = { method: "POST", headers: forwarded(address), body: "{}" };
    return ask("/api/compute/access/whoami", init, from);
  };

  it("is not believed when nobody named it: its address counts, and it speaks plain HTTP", async () => {
    const strict = await startServer({ config: { addressRateLimit: 4 } });
    try {
      const statuses: number[] = [];
      for (let n = 1; n <= 5; n += 1) statuses.push((await whoami(strict, `192.0.2.${n}`)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 429]);
      const { headers } = await whoami(server, "192.0.2.1");
      expect(headers.get("strict-transport-security")).toBeNull();
    } finally {
      await strict.stop();
    }
  });

  it("is believed when it was: the caller's address counts, and HTTPS is kept to", async () => {
    const proxied = await startServer({
      config: { addressRateLimit: 2, trustedProxies: ["127.0.0.0/8"] },
    });
    try {
      const statuses: number[] = [];
      for (let n = 1; n <= 5; n += 1) statuses.push((await whoami(proxied, `192.0.2.${n}`)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200]);
      const { headers } = await whoami(proxied, "192.0.2.9");
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
      // What the caller wrote in front of what the proxy saw is the caller's own story.
      for (let n = 1; n <= 2; n += 1) await whoami(proxied, `203.0.113.${n}, 192.0.2.50`);
      expect((await whoami(proxied, "203.0.113.3, 192.0.2.50")).status).toBe(429);
    } finally {
      await proxied.stop();
    }
  });

  it.each(["1", "true", "*", "0.0.0.0/0", "::/0", "10.0.0.0/33", "proxy.test", "10.0.0.1,,"])(
    "cannot be %s: the start stops",
    (value) => {
      expect(() => readConfig({ BERTH_TRUSTED_PROXIES: value })).toThrow(ConfigError);
    },
  );

  it.each(["10.0.0.7", "10.0.0.7, 10.1.0.0/16", "::1,fd00::/8"])("can be %s", (value) => {
    const { trustedProxies } = readConfig({ BERTH_TRUSTED_PROXIES: value });
    expect(trustedProxies).toEqual(value.split(",").map((each) => each.trim()));
  });
});

describe("what anybody may ask", () => {
  it("tells nothing of tenants, and no versions of what it is made of", async () => {
    await server.fleet(
      pool(1, 1, { owner: "t-secret-owner", offers: { "t-secret-guest": { gpu: 1 } } }),
    );
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/config.json"]) {
      const text = await (await ask(path)).text();
      expect(text).not.toMatch(/t-secret|platform-|fastify|postgres|node\/|v\d+\.\d+\.\d+/i);
    }
  });

  it("is not the metrics: no token, a key, and another token are refused alike", async () => {
    for (const authorization of [
      "",
      `Bearer ${ADMIN_KEY}`,
      `Bearer ${"n".repeat(32)}`,
      "Basic x",
    ]) {
      const answer = await ask("/metrics", { headers: authorization ? { authorization } : {} });
      expect(answer.status).toBe(401);
      expect(await answer.text()).toContain('"code":"UNAUTHENTICATED"');
    }
  });

  it("is nothing of the metrics on a server that has no token for them", async () => {
    const bare = await startServer();
    try {
      expect((await ask("/metrics", {}, bare)).status).toBe(404);
    } finally {
      await bare.stop();
    }
  });
});
