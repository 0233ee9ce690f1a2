/** `/v1/nodes/{nodeId}/reservations…`: the paths, verbs and texts of the unit reservations' first callers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_KEY,
  type Fleet,
  type HttpAnswer,
  type TestServer,
  node,
  pool,
  startServer,
} from "./harness.ts";

const NOW = Date.UTC(2031, 4, 5, 9);
let server: TestServer;
let fleet: Fleet;
let units: string[];
let path: string;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
  const plain = node("rest-1", 8);
  const gpus = plain.gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) }));
  fleet = await server.fleet({ ...pool(0, 0), nodes: [{ ...plain, gpus }] });
  const nodeId = String(fleet.nodeIds[0]);
  const { units: all } = await server.admin.fleet.getNode({ tenantId: fleet.owner, nodeId });
  units = all.map(({ id }) => id);
  path = `/v1/nodes/${nodeId}/reservations`;
});
afterAll(() => server.stop());

interface Ask {
  readonly body?: unknown;
  readonly raw?: string;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(verb: "GET" | "POST", at: string, ask: Ask = {}): Promise<HttpAnswer> {
  const { body, raw, token = ADMIN_KEY, headers = {} } = ask;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${server.url}${at}`, {
    method: verb,
    headers: {
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = (await response.json()) as HttpAnswer["body"];
  return { status: response.status, headers: response.headers, body: answer };
}

let used = 0;
/** Sets the next free unit aside. */
async function create(given: object = {}): Promise<HttpAnswer> {
  const unitIds = units.slice(used, used + 1);
  used += 1;
  return send("POST", path, { body: { unitIds, allowedOrgIds: ["t-a"], ...given } });
}

describe("a unit reservation over REST", () => {
  it("is made with 201, with the fields it was asked with and no others", async () => {
    const { status, headers, body } = await create({
      startsAt: "2031-05-05T12:00:00+02:00",
      endsAt: "2031-05-06T00:00:00Z",
      contractRef: "C-7",
    });
    expect(status).toBe(201);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(Number(headers.get("x-berth-seq"))).toBeGreaterThan(0);
    expect(body).toEqual({
      id: expect.stringMatching(/^ursv_/),
      nodeId: fleet.nodeIds[0],
      status: "pending",
      allowedOrgIds: ["platform", "t-a"],
      reservedUnitIds: [units[0]],
      startsAt: "2031-05-05T10:00:00.000Z",
      endsAt: "2031-05-06T00:00:00.000Z",
      topologyGen: 1,
      contractRef: "C-7",
      createdAt: new Date(NOW).toISOString(),
      updatedAt: new Date(NOW).toISOString(),
    });
  });

  it("goes its whole way: read, released, reclaimed, reaffirmed, cancelled", async () => {
    const { body: made } = await create();
    const one = `${path}/${String(made["id"])}`;
    expect(await send("GET", one)).toMatchObject({ status: 200, body: made });
    const released = await send("POST", `${one}/release`);
    expect(released).toMatchObject({
      status: 200,
      body: { status: "active", releasedUnitIds: made["reservedUnitIds"] },
    });
    const dry = await send("POST", `${one}/reclaim`, { body: { dryRun: true } });
    expect(dry.body).toMatchObject({ wouldTerminate: [], wouldSkip: [] });
    const reclaimed = await send("POST", `${one}/reclaim`, { body: { expect: [] } });
    expect(reclaimed.body).toMatchObject({ terminated: [], skipped: [] });
    expect(reclaimed.body).not.toHaveProperty("releasedUnitIds");
    expect(await send("POST", `${one}/reaffirm`, { body: {} })).toMatchObject({ status: 200 });
    expect(await send("POST", `${one}/cancel`)).toMatchObject({
      status: 200,
      body: { status: "cancelled" },
    });
    expect(await send("POST", `${one}/release`)).toMatchObject({
      status: 412,
      body: { code: "INVALID_STATE" },
    });
  });

  it("is not reclaimed in earnest when the query says `dryRun`: a POST has no query", async () => {
    const { body: made } = await create();
    const one = `${path}/${String(made["id"])}`;
    const { body: released } = await send("POST", `${one}/release`);
    expect(await send("POST", `${one}/reclaim?dryRun=true`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", message: "dryRun: goes in the body: a POST has no query" },
    });
    const plain = { body: { nodeId: fleet.nodeIds[0], reservationId: made["id"] } };
    expect(
      await send("POST", "/api/compute/unitReservations/reclaim?dryRun=true", plain),
    ).toMatchObject({ status: 400, body: { issues: [{ path: ["dryRun"] }] } });
    expect((await send("GET", one)).body).toEqual(released);
    await send("POST", `${one}/cancel`);
    expect((await send("POST", `${one}/cancel`)).status).toBe(200);
  });

  it("is listed by status and in pages, as the query says", async () => {
    const { body: made } = await create();
    const ids = async (query: string) => {
      const { status, body } = await send("GET", `${path}?${query}`);
      expect(status).toBe(200);
      return { ids: (body["reservations"] as { id: string }[]).map(({ id }) => id), body };
    };
    expect((await ids("status=active")).ids).toEqual([made["id"]]);
    const first = await ids("limit=1");
    expect(first.ids).toHaveLength(1);
    const cursor = String(first.body["nextCursor"]);
    const rest = await ids(`limit=200&cursor=${cursor}`);
    expect(rest.ids).not.toContain(first.ids[0]);
    expect(rest.body["nextCursor"]).toBeNull();
  });

  it.each([
    ["status=gone", "status"],
    ["status=active&status=pending", "status"],
    ["limit=0", "limit"],
    ["limit=x", "limit"],
    ["cursor=x", "cursor"],
    ["colour=red", "colour"],
    ["nodeId=x", "nodeId"],
  ])("list with ?%s is a problem that names it", async (query, field) => {
    const { status, headers, body } = await send("GET", `${path}?${query}`);
    expect(status).toBe(400);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(body).toMatchObject({ code: "INVALID_INPUT", issues: [{ path: [field] }] });
  });

  it("takes what the path names from the path alone, and only what it knows", async () => {
    for (const [given, field] of [
      [{ nodeId: fleet.nodeIds[0] }, "nodeId"],
      [{ colour: "red" }, "colour"],
    ] as const) {
      const body = { unitIds: [units[7]], allowedOrgIds: ["t-a"], ...given };
      expect(await send("POST", path, { body })).toMatchObject({
        status: 400,
        body: { code: "INVALID_INPUT", issues: [{ path: [field] }] },
      });
    }
    for (const raw of ["[]", "1", "null!", '"x"'])
      expect(await send("POST", path, { raw })).toMatchObject({
        status: 400,
        body: { code: "INVALID_INPUT" },
      });
    const headers = { "if-match": "3" };
    expect(await send("POST", `${path}/ursv_${"0".repeat(26)}/cancel`, { headers })).toMatchObject({
      status: 400,
      body: { issues: [{ path: ["version"] }] },
    });
  });

  it("is a conflict on the same unit, with the unit in the details", async () => {
    const ask = { body: { unitIds: [units[6]], allowedOrgIds: ["t-a"] } };
    expect((await send("POST", path, ask)).status).toBe(201);
    expect(await send("POST", path, ask)).toMatchObject({
      status: 409,
      body: { code: "CONFLICT", details: { kind: "overlap", ids: [units[6]], plan: null } },
    });
  });

  it("wants a key before anything else, and is not there for a stranger", async () => {
    for (const token of [null, "wrong"])
      expect(await send("POST", path, { raw: "{", token })).toMatchObject({
        status: 401,
        body: { code: "UNAUTHENTICATED" },
      });
    const token = await server.token("t-b", "tenant-admin");
    const { body: hidden, status } = await send("GET", path, { token });
    const nowhere = `/v1/nodes/node_${"0".repeat(26)}/reservations`;
    const { body: none } = await send("GET", nowhere, { token });
    expect(status).toBe(404);
    const unnamed = { requestId: "", instance: "" };
    expect({ ...hidden, ...unnamed }).toEqual({ ...none, ...unnamed });
  });

  it.each([
    ["cannot be read", "/v1/nodes/%zz/reservations"],
    ["is too long", `/v1/nodes/${"a".repeat(5_000)}/reservations`],
    ["there is not", "/v1/nodes"],
  ])("under a path that %s is a problem that says so and repeats nothing", async (_case, at) => {
    const { status, headers, body } = await send("GET", at);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(body).toMatchObject({ code: "NOT_FOUND", detail: "There is no such path." });
    expect(body["requestId"]).toBe(headers.get("x-request-id"));
  });

  it("is described with its own paths in the OpenAPI document", async () => {
    const { body } = await send("GET", "/openapi.json", { token: null });
    const paths = body["paths"] as Record<string, Record<string, { responses: object }>>;
    const mine = Object.entries(paths).filter(([at]) => at.startsWith("/v1/"));
    expect(
      mine.flatMap(([at, verbs]) => Object.keys(verbs).map((verb) => `${verb} ${at}`)),
    ).toEqual([
      "post /v1/nodes/{nodeId}/reservations",
      "get /v1/nodes/{nodeId}/reservations",
      "get /v1/nodes/{nodeId}/reservations/{reservationId}",
      "post /v1/nodes/{nodeId}/reservations/{reservationId}/cancel",
      "post /v1/nodes/{nodeId}/reservations/{reservationId}/release",
      "post /v1/nodes/{nodeId}/reservations/{reservationId}/reclaim",
      "post /v1/nodes/{nodeId}/reservations/{reservationId}/reaffirm",
    ]);
  });
});

describe("without a platform org", () => {
  it("every call on unit reservations is the wrong time, on every surface", async () => {
    const off = await startServer({ config: { platformOrg: null } });
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const response = await fetch(`${off.url}${path}`, { headers });
    expect(response.status).toBe(412);
    expect(await off.http("unitReservations.list", {})).toMatchObject({
      status: 412,
      body: { code: "INVALID_STATE", message: expect.stringContaining("BERTH_PLATFORM_ORG") },
    });
    await off.stop();
  });
});
