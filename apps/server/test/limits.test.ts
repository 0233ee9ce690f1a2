/** A principal has its calls a minute, counted one by one; whoever tries keys runs out of tries. */
import { afterEach, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "./harness.ts";

let server: TestServer | undefined;
afterEach(() => server?.stop());

it("the call after the last one is RATE_LIMITED and says when to come back", async () => {
  server = await startServer({ config: { rateLimit: 3 } });
  for (let left = 2; left >= 0; left -= 1) {
    const { status, headers } = await server.http("access.whoami", {});
    expect(status).toBe(200);
    expect(headers.get("ratelimit")).toContain(`r=${left};`);
  }
  const { status, headers, body } = await server.http("access.whoami", {});
  expect(status).toBe(429);
  expect(body).toMatchObject({ code: "RATE_LIMITED", retryable: true });
  expect(headers.get("x-should-retry")).toBe("true");
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
});

it("every call of a batch counts", async () => {
  server = await startServer({ config: { rateLimit: 3 } });
  const path = Array(4).fill("access.whoami").join(",");
  const response = await fetch(`${server.url}/trpc/${path}?batch=1`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(Object.fromEntries([0, 1, 2, 3].map((i) => [i, { json: {} }]))),
  });
  expect(response.status).toBe(429);
});

it("an address that keeps presenting bad keys is told to stop", async () => {
  server = await startServer({ config: { rateLimit: 3 } });
  const statuses: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) {
    statuses.push((await server.http("access.whoami", {}, { token: "x".repeat(40) })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

const PUBLIC = [
  "/openapi.json",
  "/config.json",
  "/docs/api",
  "/docs/api/start.js",
  "/docs/api/scalar.js",
  "/docs/errors",
  "/docs/errors/not-found",
];

it.each(PUBLIC)("%s is counted as a call of its address", async (path) => {
  const { url, http } = (server = await startServer({ config: { addressRateLimit: 2 } }));
  const get = () => fetch(url + path);
  expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
  const { status, headers } = await get();
  expect(status).toBe(429);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("ratelimit-policy")).toBe('"address";q=2;w=60');
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await http("access.whoami", {})).status).toBe(429);
});

it("who watches the server is counted against nobody: alive, ready and the metrics are always told", async () => {
  const metricsToken = "m".repeat(32);
  const { url } = (server = await startServer({ config: { addressRateLimit: 1, metricsToken } }));
  const statuses = async (path: string) => {
    const ask = () => fetch(url + path, { headers: { authorization: `Bearer ${metricsToken}` } });
    return [(await ask()).status, (await ask()).status, (await ask()).status];
  };
  for (const path of ["/healthz", "/readyz", "/metrics"])
    expect(await statuses(path), path).toEqual([200, 200, 200]);
  expect(await statuses("/config.json")).toEqual([200, 429, 429]);
});
