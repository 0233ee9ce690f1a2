/** The plain HTTP surface: errors are problems, headers and body agree, nothing is answered without a key. */
import { METHOD_NAMES, catalog } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type Fleet, type TestServer, pool, startServer } from "./harness.ts";

const METRICS_TOKEN = "metrics-token-0123456789abcdefghijklmnop";

let server: TestServer;
let fleet: Fleet;
let booker: string;
beforeAll(async () => {
  server = await startServer({ config: { metricsToken: METRICS_TOKEN } });
  fleet = await server.fleet(pool(2, 8));
  booker = await server.token("t-a");
});
afterAll(() => server.stop());

const ask = (key: string, more: object = {}) => ({
  tenantId: "t-a",
  poolId: fleet.poolId,
  devices: [{ class: "gpu", count: 1 }],
  duration: "1h",
  idempotencyKey: key,
  ...more,
});

describe("a call", () => {
  it("carries its request id and its place in the pool's order", async () => {
    const { status, headers } = await server.http("reservations.create", ask("h-1"), {
      token: booker,
    });
    expect(status).toBe(200);
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(Number(headers.get("x-berth-seq"))).toBeGreaterThan(0);
    expect(headers.get("idempotent-replayed")).toBeNull();
    expect(headers.get("ratelimit-policy")).toBe('"principal";q=60000;w=60');
    expect(headers.get("ratelimit")).toMatch(/^"principal";r=\d+;t=\d+$/);
  });

  it("keeps a harmless request id of the caller's and replaces any other", async () => {
    const send = (id: string) =>
      server.http("access.whoami", {}, { headers: { "x-request-id": id } });
    expect((await send("trace-42")).headers.get("x-request-id")).toBe("trace-42");
    expect((await send("<script>")).headers.get("x-request-id")).not.toBe("<script>");
  });

  it("answers a used key with the same reservation and says so", async () => {
    const first = await server.http("reservations.create", ask("h-2"), { token: booker });
    const again = await server.http("reservations.create", ask("h-2"), { token: booker });
    expect(again.body["id"]).toBe(first.body["id"]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  it("without input may come without a body", async () => {
    for (const raw of ["", "{}", " "]) {
      expect((await server.http("access.whoami", null, { raw })).status).toBe(200);
    }
  });

  it("sends security headers and no trace of what serves it", async () => {
    const { headers } = await server.http("access.whoami", {});
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("server")).toBeNull();
  });
});

describe("an error", () => {
  it("is a problem that names the field, the request and whether to retry", async () => {
    const { status, headers, body } = await server.http(
      "reservations.create",
      ask("e-1", { cuont: 1 }),
      {
        token: booker,
      },
    );
    expect(status).toBe(400);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(headers.get("x-should-retry")).toBe("false");
    expect(body).toMatchObject({
      type: "/docs/errors/invalid-input",
      status: 400,
      code: "INVALID_INPUT",
      retryable: false,
      requestId: headers.get("x-request-id"),
      issues: [{ path: ["cuont"] }],
    });
    expect(body["detail"]).toBe(body["message"]);
    expect(typeof body["title"]).toBe("string");
  });

  it("with details keeps them: what does not fit says why", async () => {
    const devices = [{ class: "gpu", count: 9 }];
    const { status, headers, body } = await server.http(
      "reservations.create",
      ask("e-2", { devices }),
      {
        token: booker,
      },
    );
    expect(status).toBe(409);
    expect(headers.get("x-should-retry")).toBe("false");
    expect(Number(headers.get("x-berth-seq"))).toBeGreaterThan(0);
    expect(body).toMatchObject({ code: "NO_CAPACITY", details: { reason: { code: "COUNT" } } });
  });

  it.each([
    ["no token", null],
    ["an unknown key", "x".repeat(40)],
    ["a mistyped key", "berth_0123456789abcdefghjkmnpqrs_aaaa"],
  ])("for %s is UNAUTHENTICATED before the body is read", async (_case, token) => {
    const { status, body } = await server.http("pools.list", null, { token, raw: "{ not json" });
    expect(status).toBe(401);
    expect(body).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(body["issues"] ?? null).toBeNull();
  });

  it("for a body that is not JSON is INVALID_INPUT", async () => {
    for (const raw of ["{", "[1", '{"__proto__":{"a":1}}', "\u0000"]) {
      const { status, body } = await server.http("pools.list", null, { raw });
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: "INVALID_INPUT" });
    }
  });

  it("for a body of another media type is INVALID_INPUT", async () => {
    const headers = { "content-type": "text/plain" };
    const { status, body } = await server.http("pools.list", { tenantId: "t-a" }, { headers });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("for a body over 1 MiB is TOO_LARGE, but fleet.putNodes takes 8", async () => {
    const raw = JSON.stringify({ tenantId: "x".repeat(1_100_000) });
    expect(await server.http("pools.list", null, { raw })).toMatchObject({
      status: 413,
      body: { code: "TOO_LARGE" },
    });
    expect(await server.http("fleet.putNodes", null, { raw })).toMatchObject({ status: 400 });
    const viewer = await server.token("t-a", "tenant-viewer");
    expect(await server.http("fleet.putNodes", null, { raw, token: viewer })).toMatchObject({
      status: 413,
    });
    const larger = JSON.stringify({ tenantId: "x".repeat(8_500_000) });
    expect(await server.http("fleet.putNodes", null, { raw: larger })).toMatchObject({
      status: 413,
    });
  });

  it("for a method that does not exist is NOT_FOUND", async () => {
    for (const method of ["pools.drop", "nothing.list", "pools.list.more"]) {
      const { status, body } = await server.http(method, {});
      expect(status).toBe(404);
      expect(body).toMatchObject({ code: "NOT_FOUND" });
    }
  });

  it("never shows a stack, whatever the surface", async () => {
    const urls = [`${server.url}/trpc/pools.list?input=x`, `${server.url}/trpc/nope`];
    for (const url of urls) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
      expect(await response.text()).not.toMatch(/ at .*\.ts|node_modules|stack/);
    }
  });
});

describe("twins of header and body", () => {
  const idempotencyKey = (key: string) => ({ "idempotency-key": key });

  it("Idempotency-Key is idempotencyKey", async () => {
    const { idempotencyKey: _, ...keyless } = ask("unused");
    const options = { token: booker, headers: idempotencyKey("t-1") };
    const first = await server.http("reservations.create", keyless, options);
    const again = await server.http("reservations.create", ask("t-1"), options);
    expect(first.status).toBe(200);
    expect(again.body["id"]).toBe(first.body["id"]);
  });

  it("both given and different is INVALID_INPUT", async () => {
    const options = { token: booker, headers: idempotencyKey("t-2") };
    const answer = await server.http("reservations.create", ask("t-3"), options);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", issues: [{ path: ["idempotencyKey"] }] },
    });
  });

  it.each([
    ["plain", (version: number) => `${version}`],
    ["quoted", (version: number) => `"${version}"`],
  ])("If-Match, %s, is version", async (kind, write) => {
    const made = await server.http("reservations.create", ask(`t-4-${kind}`), { token: booker });
    const input = { tenantId: "t-a", reservationId: made.body["id"] };
    const release = (version: number) =>
      server.http("reservations.release", input, {
        token: booker,
        headers: { "if-match": write(version) },
      });
    expect(await release(99)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await release(1)).toMatchObject({ status: 200, body: { state: "released" } });
  });

  it.each(['W/"1"', "*", '"1", "2"', "one"])("If-Match: %s is INVALID_INPUT", async (value) => {
    const made = await server.http("reservations.create", ask(`t-5-${value.length}`), {
      token: booker,
    });
    const answer = await server.http(
      "reservations.release",
      { tenantId: "t-a", reservationId: made.body["id"] },
      { token: booker, headers: { "if-match": value } },
    );
    expect(answer).toMatchObject({ status: 400, body: { issues: [{ path: ["version"] }] } });
  });

  it("If-Match also holds back pools.update and pools.archive, whose bodies have no version", async () => {
    const { poolId } = await server.fleet(pool(1, 1));
    const call = (method: string, version: number, more: object = {}) =>
      server.http(
        method,
        { tenantId: "t-own", poolId, ...more },
        { headers: { "if-match": `"${version}"` } },
      );
    const stale = { status: 409, body: { code: "CONFLICT", details: { kind: "version" } } };
    expect(await call("pools.update", 99, { gpuModel: "H200" })).toMatchObject(stale);
    const { body } = await server.http("pools.get", { tenantId: "t-own", poolId });
    const version = Number(body["version"]);
    const updated = await call("pools.update", version, { gpuModel: "H200" });
    expect(updated).toMatchObject({ status: 200, body: { version: version + 1 } });
    expect(await call("pools.archive", version)).toMatchObject(stale);
    expect(await call("pools.archive", version + 1)).toMatchObject({ status: 200 });
  });

  it("a precondition that a mutation cannot keep is refused, not ignored", async () => {
    const input = { tenantId: "t-own", poolId: fleet.poolId, toTenantId: "t-nobody" };
    const answer = await server.http("pools.unoffer", input, { headers: { "if-match": "1" } });
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });
});

describe("what is answered without a key", () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers });

  it("is that it is alive and ready", async () => {
    expect(await (await get("/healthz")).json()).toEqual({ alive: true });
    expect(await (await get("/readyz")).json()).toEqual({ ready: true });
  });

  it("is the console's settings and the contract, with every method", async () => {
    expect(await (await get("/config.json")).json()).toEqual({ oidc: null });
    const document = (await (await get("/openapi.json")).json()) as {
      openapi: string;
      paths: object;
    };
    expect(document.openapi).toMatch(/^3\.1/);
    for (const method of METHOD_NAMES.filter((name) => catalog[name].kind !== "subscription")) {
      expect(document.paths).toHaveProperty([`/api/compute/${method.replace(".", "/")}`]);
    }
  });

  it("is not the metrics: those have a token of their own", async () => {
    for (const token of [undefined, ADMIN_KEY]) {
      const refused = await get("/metrics", token ? { authorization: `Bearer ${token}` } : {});
      expect(refused.status).toBe(401);
    }
    const text = await (await get("/metrics", { authorization: `Bearer ${METRICS_TOKEN}` })).text();
    expect(text).toMatch(/berth_calls_total\{method="access.whoami",code="OK"\} \d+/);
    expect(text).toMatch(/berth_batch_size_count \d+/);
    expect(text).toContain("berth_violations_total");
    expect(text).not.toContain("t-a");
  });

  it("is nothing else", async () => {
    for (const path of ["/", "/trpc", "/v1", "/../etc/passwd"]) {
      expect((await get(path)).status).toBe(404);
    }
    const { status, headers } = await get("/api/compute/pools/list");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    expect((await get("/trpc/pools.list")).status).toBe(401);
  });
});

describe("tRPC", () => {
  const json = { "content-type": "application/json" };
  const post = (body: string) => ({ method: "POST", body, headers: json });
  const trpc = (path: string, body: unknown) =>
    fetch(`${server.url}/trpc/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  it("carries the same error as plain HTTP", async () => {
    const response = await trpc("pools.get", { json: { tenantId: "t-a", poolId: "pool_x" } });
    const { error } = (await response.json()) as { error: { json?: object } };
    expect(response.status).toBe(400);
    expect(error.json ?? error).toMatchObject({
      data: { code: "BAD_REQUEST", berth: { code: "INVALID_INPUT", retryable: false } },
    });
    expect(response.headers.get("x-should-retry")).toBe("false");
  });

  it("answers refusals before the call in its own shape", async () => {
    const response = await fetch(`${server.url}/trpc/pools.list`, { method: "POST" });
    const { error } = (await response.json()) as { error: { json?: object } };
    expect(response.status).toBe(401);
    expect(error.json ?? error).toMatchObject({
      data: { code: "UNAUTHORIZED", berth: { code: "UNAUTHENTICATED" } },
    });
  });

  it("takes 50 calls in a batch and not 51", async () => {
    const batch = (size: number) =>
      trpc(
        `${Array(size).fill("access.whoami").join(",")}?batch=1`,
        Object.fromEntries(Array.from({ length: size }, (_, i) => [i, { json: {} }])),
      );
    const taken = await batch(50);
    expect(taken.status).toBe(200);
    expect(await taken.json()).toHaveLength(50);
    const refused = await batch(51);
    expect(refused.status).toBe(400);
    const { error } = (await refused.json()) as { error: { json: object } };
    expect(error.json).toMatchObject({
      data: {
        code: "BAD_REQUEST",
        berth: {
          code: "INVALID_INPUT",
          message: expect.stringContaining("at most 50 calls, this one has 51"),
          requestId: refused.headers.get("x-request-id"),
          retryable: false,
        },
      },
    });
  });

  it.each([
    ["no JSON", "access.whoami", { method: "POST", body: "{", headers: json }],
    ["no JSON for a batch", "access.whoami?batch=1", { method: "POST", body: "{", headers: json }],
    ["a batch that is a list", "access.whoami,access.whoami?batch=1", post("[]")],
    ["no body and no content type", "access.whoami", { method: "POST", headers: {} }],
    [
      "another content type",
      "access.whoami",
      { ...post("{}"), headers: { "content-type": "text/plain" } },
    ],
    [
      "a form",
      "access.whoami",
      { ...post("a=1"), headers: { "content-type": "application/x-www-form-urlencoded" } },
    ],
    ["a query that is not JSON", "access.whoami?input={", { method: "GET" }],
    ["a batch whose query is not JSON", "access.whoami?batch=1&input={", { method: "GET" }],
    [
      "connection parameters that are not JSON",
      "access.whoami?connectionParams=1",
      { method: "GET" },
    ],
    ["a method that is not there", "access.whoareyou", post("{}")],
  ])("gives the request's id with every refusal: %s", async (_what, path, init) => {
    const response = await fetch(`${server.url}/trpc/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, ...("headers" in init ? init.headers : {}) },
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const ids = [...(await response.text()).matchAll(/"requestId":"([^"]*)"/g)];
    expect(new Set(ids.map(([, id]) => id))).toEqual(
      new Set([response.headers.get("x-request-id")]),
    );
  });

  it("refuses an input that would make superjson work", async () => {
    const values = { "a.0.b": [["Date"]] };
    const response = await trpc("access.whoami", { json: {}, meta: { values } });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { json?: object } };
    expect(error.json ?? error).toMatchObject({
      data: {
        code: "BAD_REQUEST",
        berth: { code: "INVALID_INPUT", requestId: response.headers.get("x-request-id") },
      },
    });
  });
});
