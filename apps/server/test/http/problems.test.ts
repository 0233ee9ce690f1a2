/** Every refusal is a problem that says where its page is and whether to send the same again, however early it comes. */
import { ERROR_KINDS, METHOD_NAMES, catalog, schemasOf } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { rawRequest, sendRaw } from "../security/raw-socket.ts";

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer();
  fleet = await server.fleet(pool(1, 2));
});
afterAll(() => server.stop());

const key = { authorization: `Bearer ${ADMIN_KEY}` };
const json = { ...key, "content-type": "application/json" };
type Init = Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> };
type Problem = Readonly<Record<string, unknown>> & { readonly type: string };

const ask = (more: object = {}) => ({
  tenantId: "t-a",
  poolId: fleet.poolId,
  devices: [{ class: "gpu", count: 1 }],
  duration: "1h",
  idempotencyKey: "problem",
  ...more,
});

const WHOAMI = "/api/compute/access/whoami";
/** What is refused without a look at what is asked: path, request, status. */
const EARLY: readonly (readonly [string, string, Init, number])[] = [
  ["no such path", "/nowhere", {}, 404],
  ["no such path below ours", "/api/compute/pools/nothing", { method: "POST", headers: json }, 404],
  ["a path that cannot be read", "/%", {}, 404],
  ["a path that is too long", `/trpc/${"a".repeat(5_000)}`, { headers: key }, 404],
  ["another verb", WHOAMI, { headers: key }, 405],
  ["another verb of a page", "/docs/api", { method: "DELETE" }, 405],
  ["no key", WHOAMI, { method: "POST" }, 401],
  [
    "another content type",
    WHOAMI,
    { method: "POST", headers: { ...key, "content-type": "text/xml" }, body: "<a/>" },
    400,
  ],
  ["no JSON", WHOAMI, { method: "POST", headers: json, body: "{" }, 400],
  [
    "a body that is too large",
    WHOAMI,
    { method: "POST", headers: json, body: `"${"a".repeat(1_100_000)}"` },
    413,
  ],
  ["no such error", "/docs/errors/none", {}, 404],
  ["no token for the metrics", "/nowhere/metrics", {}, 404],
];

function expectProblem(problem: Problem, headers: Headers, status: number): void {
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("x-should-retry")).toBe(String(problem["retryable"]));
  expect(problem).toMatchObject({
    status,
    detail: problem["message"],
    requestId: headers.get("x-request-id"),
    instance: headers.get("x-request-id"),
  });
  const kind = ERROR_KINDS.get(problem.type.replace("/docs/errors/", ""));
  expect(problem).toMatchObject({ title: kind?.title, code: kind?.code });
}

describe("a refusal", () => {
  it.each(EARLY)("of %s is a problem with a page", async (_what, path, init, status) => {
    const answer = await fetch(`${server.url}${path}`, init);
    expect(answer.status).toBe(status);
    const problem = (await answer.json()) as Problem;
    expectProblem(problem, answer.headers, status);
    const page = await fetch(new URL(problem.type, server.url));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(String(problem["title"]));
  });

  it.each([
    ["REST", "POST", WHOAMI],
    ["unit reservations", "GET", "/v1/nodes/node_00000000000000000000000000/reservations"],
    ["the stream", "GET", "/api/compute/events/stream?tenantId=t-a"],
    ["tRPC", "GET", "/trpc/access.whoami"],
    ["a tRPC batch", "GET", "/trpc/access.whoami,pools.list?batch=1"],
  ])("as 401 says how to sign in, without and with a token: %s", async (_surface, method, path) => {
    for (const headers of [{}, { authorization: "Bearer berth_no" }]) {
      const answer = await fetch(`${server.url}${path}`, { method, headers });
      await answer.body?.cancel();
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="berth"');
    }
    const known = await fetch(`${server.url}/nowhere`);
    expect(known.headers.has("www-authenticate")).toBe(false);
  });

  it("names what was given as the request's id, in the answer's header and body", async () => {
    const answer = await fetch(`${server.url}/nowhere`, { headers: { "x-request-id": "job-7" } });
    expect(answer.headers.get("x-request-id")).toBe("job-7");
    expect(await answer.json()).toMatchObject({ requestId: "job-7", instance: "job-7" });
  });

  it.each([
    ["bytes that are no request", "NONSENSE\r\n\r\n", 400],
    ["headers that are too large", rawRequest("GET /healthz", [`x-a: ${"b".repeat(40_000)}`]), 431],
    ["no host", "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n", 400],
    ["an expectation", rawRequest("GET /healthz", ["expect: miracles"]), 417],
  ])("of %s is one, too", async (_what, bytes, status) => {
    const { statuses, closed, text } = await sendRaw(server.url, bytes);
    expect([statuses, closed]).toEqual([[status], true]);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const headers = new Headers(
      head
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]),
    );
    const problem = JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1)) as Problem;
    expectProblem(problem, headers, status);
  });

  it("of HTTP/1.0 without a host is none", async () => {
    expect((await sendRaw(server.url, "GET /healthz HTTP/1.0\r\n\r\n")).statuses).toEqual([200]);
  });
});

describe("an error of a call", () => {
  it("says where a fault is, as a JSON Pointer and as a path", async () => {
    const devices = [
      { class: "gpu", count: 1 },
      { class: "gpu", count: 0, selector: { labels: { "a/b~c": 7 } } },
    ];
    const { body } = await server.http("capacity.preview", ask({ devices, "x/y": 1 }));
    expect(body).toMatchObject({ code: "INVALID_INPUT", type: "/docs/errors/invalid-input" });
    expect(body["errors"]).toEqual(
      expect.arrayContaining([
        { pointer: "#/devices/1/count", path: "devices[1].count", detail: "must be at least 1" },
        {
          pointer: "#/devices/1/selector/labels/a~1b~0c",
          path: "devices[1].selector.labels.a/b~c",
          detail: "must be a string",
        },
        { pointer: "#/x~1y", path: "x/y", detail: "is not a field of this request" },
      ]),
    );
    expect(body["errors"]).toHaveLength((body["issues"] as unknown[]).length);
  });

  it("has a type for its reason: by it a program tells one conflict from another", async () => {
    const typeOf = async (method: string, input: object) =>
      (await server.http(method, input)).body["type"];
    expect(
      await typeOf("reservations.create", ask({ devices: [{ class: "gpu", count: 64 }] })),
    ).toBe("/docs/errors/no-capacity-count");
    const { body } = await server.http("reservations.create", ask());
    expect(await typeOf("reservations.create", ask({ duration: "2h" }))).toBe(
      "/docs/errors/conflict-key",
    );
    const stale = { tenantId: "t-a", reservationId: body["id"], version: 9 };
    expect(await typeOf("reservations.renew", stale)).toBe("/docs/errors/conflict-version");
    expect((await server.http("reservations.release", stale)).body["errors"]).toBeNull();
  });

  it("begins its address with the server's public one, where that is known", async () => {
    const known = await startServer({ config: { publicUrl: "https://berth.test/gpu" } });
    try {
      const { body } = await known.http("pools.get", {});
      expect(body["type"]).toBe("https://berth.test/gpu/docs/errors/invalid-input");
      const { text } = await sendRaw(known.url, "NONSENSE\r\n\r\n");
      expect(text).toContain("https://berth.test/gpu/docs/errors/invalid-input");
    } finally {
      await known.stop();
    }
  });
});

describe("a key that is used again", () => {
  const keyed = METHOD_NAMES.filter((method) => {
    const { input } = schemasOf(method);
    const shape = "shape" in input ? (input.shape as object) : {};
    return catalog[method].kind === "mutation" && Object.hasOwn(shape, "idempotencyKey");
  });

  it("is answered as it was, and says so, by every method that takes one", async () => {
    const { poolId } = await server.fleet(pool(1, 2));
    const { pools } = await server.admin.pools.list({ tenantId: "t-own" });
    const siteId = pools.find(({ id }) => id === poolId)?.siteId;
    const inputs: Readonly<Record<string, object>> = {
      "reservations.create": ask({ poolId, idempotencyKey: "again" }),
      "pools.create": { tenantId: "t-own", siteId, class: "metal-host", idempotencyKey: "again" },
    };
    expect(keyed.toSorted()).toEqual(Object.keys(inputs).toSorted());
    for (const [method, input] of Object.entries(inputs)) {
      const first = await server.http(method, input);
      const again = await server.http(method, input);
      expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([200, null]);
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
      expect(again.body["id"]).toBe(first.body["id"]);
    }
  });
});

describe("who calls too often", () => {
  it("is told by both fields what was spent and when to come back, whoever is counted", async () => {
    const strict = await startServer({ config: { rateLimit: 2, addressRateLimit: 3 } });
    try {
      const call = () => strict.http("access.whoami", {});
      const good = await call();
      expect(good.headers.get("ratelimit-policy")).toBe('"principal";q=2;w=60');
      expect(good.headers.get("ratelimit")).toMatch(/^"principal";r=1;t=\d+$/);
      await call();
      const [byPrincipal, byAddress] = [await call(), await call()];
      expect(byPrincipal.headers.get("ratelimit")).toMatch(/^"principal";r=0;t=\d+$/);
      expect(byAddress.headers.get("ratelimit-policy")).toBe('"address";q=3;w=60');
      expect(byAddress.headers.get("ratelimit")).toMatch(/^"address";r=0;t=\d+$/);
      for (const { status, headers, body } of [byPrincipal, byAddress]) {
        expect(status).toBe(429);
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        expect(headers.get("x-should-retry")).toBe("true");
        expect(body["type"]).toBe("/docs/errors/rate-limited");
      }
    } finally {
      await strict.stop();
    }
  });
});
