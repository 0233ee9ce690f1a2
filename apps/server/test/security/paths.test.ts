/** Limits, audit and authorization go by the method that runs, never by how its path is spelled. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "../harness.ts";
import { rawRequest, sendRaw } from "./raw-socket.ts";

let server: TestServer;
let viewer: string;
beforeAll(async () => {
  server = await startServer({ config: { metricsToken: "m".repeat(32) } });
  viewer = await server.token("t-a", "tenant-viewer");
});
afterAll(() => server.stop());

const json = "content-type: application/json";
async function post(path: string, body: string, token = ADMIN_KEY) {
  const headers = [json, `authorization: Bearer ${token}`];
  const { statuses, text } = await sendRaw(server.url, rawRequest(`POST ${path}`, headers, body));
  return { status: statuses[0], text };
}

it.each([
  "/api/compute/pools%2Farchive",
  "/api/compute/pools/archive/",
  "/api/compute/pools/archive.",
  "/api/compute//pools/archive",
  "/api/compute/./pools/archive",
  "/api/compute/pools/../pools/archive",
  "/api/compute/Pools/archive",
  "/api/compute/pools/ARCHIVE",
  "/api/compute/pools.archive",
  "/api/compute/pools/archive%00",
  "/api/compute/pools/archive;a=b",
  "/api/compute/pools/__proto__",
  "/api/compute/__proto__/constructor",
  "/trpc/pools/archive",
  "/trpc/pools.archive/",
  "/trpc/pools.archive.",
  "/trpc/Pools.archive",
  "/trpc/pools.archive%00",
  "/trpc/pools.__proto__",
  "/trpc/__proto__.constructor",
  "/trpc/pools",
  "/v1/nodes//reservations",
  "/v1/nodes/%00/reservations",
  "/v1/Nodes/x/reservations",
])("%s is no method of ours: an error in our shape, and nothing runs", async (path) => {
  const { status, text } = await post(path, "{}");
  expect([400, 404, 405]).toContain(status);
  expect(text).toMatch(/"code":"(NOT_FOUND|INVALID_INPUT)"/);
  expect(text).not.toMatch(/Route |at .*\.ts|node_modules/);
});

it.each([
  "/trpc/access.whoami%2Caccess.whoami?batch=1",
  "/trpc/access.whoami%252Caccess.whoami?batch=1",
  "/trpc/access.whoami%25252Caccess.whoami?batch=1",
])("%s runs as many calls as were counted", async (path) => {
  const left = async () => {
    const { headers } = await server.http("access.whoami", {}, { token: viewer });
    return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  const before = await left();
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${viewer}` },
    body: JSON.stringify({ 0: { json: {} }, 1: { json: {} } }),
  });
  const answers = [await response.json()].flat();
  // The second question about it is one of those that it was asked by.
  expect(before - (await left()) - 1).toBe(answers.length);
});

it("a viewer's key archives nothing, whatever the spelling", async () => {
  const input = { tenantId: "t-a", poolId: `pool_${"0".repeat(52)}` };
  for (const path of ["pools.archive", "pools%2Earchive", "pools%252Earchive", "%70ools.archive"]) {
    const { status } = await post(`/trpc/${path}`, JSON.stringify({ json: input }), viewer);
    expect([403, 404]).toContain(status);
  }
  const { status } = await post("/api/compute/pools/%61rchive", JSON.stringify(input), viewer);
  expect([403, 404]).toContain(status);
});

it.each([
  "/../../etc/passwd",
  "/..%2f..%2fetc%2fpasswd",
  "/%2e%2e/%2e%2e/etc/passwd",
  "//etc/passwd",
  "/.env",
  "/.git/config",
  "/assets/%2f..%2f..%2fpackage.json",
  "/assets/..%00/package.json",
  "/index.html%00.png",
  "/node_modules/fastify/package.json",
  "/src/main.ts",
])("%s leads nowhere", async (path) => {
  const { statuses, text } = await sendRaw(server.url, rawRequest(`GET ${path}`));
  expect(statuses).toEqual([404]);
  expect(text).toContain('"code":"NOT_FOUND"');
});

it("every path that is there refuses the other verbs and names its own", async () => {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  const verbs = ["get", "post", "put", "patch", "delete", "options", "trace"];
  for (const [path, item] of Object.entries(document.paths)) {
    const taken = verbs.filter((verb) => verb in item).map((verb) => verb.toUpperCase());
    for (const verb of verbs.filter((each) => !(each in item))) {
      const address = path.replaceAll(/\{\w+\}/g, "x");
      const { statuses, text } = await sendRaw(
        server.url,
        rawRequest(`${verb.toUpperCase()} ${address}`),
      );
      expect([verb, path, statuses]).toEqual([verb, path, [405]]);
      const allow = /^allow: (.*)$/m.exec(text)?.[1]?.trim().split(", ") ?? [];
      expect(allow.filter((each) => each !== "HEAD")).toEqual(taken.toSorted());
    }
  }
});
