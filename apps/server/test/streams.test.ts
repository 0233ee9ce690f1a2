/** Event streams over real HTTP: for an EventSource, for the client, and when they have to end. */
import { createBerth, isBerthError } from "@berth/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_KEY,
  type Fleet,
  type TestServer,
  pool,
  spawnServer,
  startServer,
} from "./harness.ts";
import { METRICS, METRICS_TOKEN, counter } from "./faults/together.ts";

const TENANT = "t-own";
let server: TestServer;
let fleet: Fleet;

beforeAll(async () => {
  server = await startServer({ config: { metricsToken: METRICS_TOKEN } });
  fleet = await server.fleet(pool(1, 8));
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
}

/** Opens the stream as an EventSource would. */
function open(
  query: Record<string, string>,
  options: { token?: string | null; lastEventId?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  const { token = ADMIN_KEY, lastEventId, signal } = options;
  const search = new URLSearchParams(query).toString();
  return fetch(`${server.url}/api/compute/events/stream?${search}`, {
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
    ...(signal ? { signal } : {}),
  });
}

/** The blocks of the stream, as they come. */
async function* frames(response: Response): AsyncGenerator<Frame> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => /^([^:]*): ?(.*)$/.exec(line)?.slice(1) ?? []);
      yield Object.fromEntries(fields.map(([name, value]) => [name || "comment", value]));
    }
  }
}

/** Frames with data, so many of them. */
async function events(response: Response, count: number): Promise<Frame[]> {
  const found: Frame[] = [];
  for await (const frame of frames(response)) {
    if (frame.data !== undefined) found.push(frame);
    if (found.length === count) break;
  }
  return found;
}

const touch = () =>
  server.admin.pools.update({
    tenantId: TENANT,
    poolId: fleet.poolId,
    policy: { label: `l${performance.now()}` },
  });

describe("GET /api/compute/events/stream", () => {
  it("says each event as events.list does, its type and its cursor beside it, kept by nobody", async () => {
    const response = await open({ tenantId: TENANT });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-request-id": expect.any(String) as string,
    });
    const reading = events(response, 2);
    await touch();
    await touch();
    const told = await reading;
    await server.database.feedCaughtUp();
    const { events: listed } = await server.admin.events.list({ tenantId: TENANT, limit: 200 });
    const last = listed.slice(-2);
    expect(told.map(({ data }) => JSON.parse(data ?? "") as unknown)).toEqual(last);
    expect(told.map(({ id }) => id)).toEqual(last.map(({ cursor }) => cursor));
    expect(told.map(({ event }) => event)).toEqual(["pool.updated", "pool.updated"]);
  });

  it("begins with a place to resume at, and resumes by cursor, or by Last-Event-ID before it", async () => {
    const start = [];
    for await (const frame of frames(await open({ tenantId: TENANT }))) {
      start.push(frame);
      if (frame.id !== undefined) break;
    }
    expect(start).toEqual([
      { retry: "1000" },
      { comment: "still here", id: expect.any(String) as string },
    ]);
    const cursor = start[1]?.id ?? "";
    await touch();
    await touch();
    const [first, second] = await events(await open({ tenantId: TENANT, cursor }), 2);
    const resumed = await open({ tenantId: TENANT, cursor }, { lastEventId: first?.id ?? "" });
    expect(await events(resumed, 1)).toEqual([second]);
    const ofPool = await open({ tenantId: TENANT, cursor, poolId: fleet.poolId });
    expect(await events(ofPool, 2)).toEqual([first, second]);
  });

  it("refuses as a problem before the stream begins", async () => {
    const refusals: [Record<string, string>, string | null, number, string][] = [
      [{ tenantId: TENANT }, null, 401, "UNAUTHENTICATED"],
      [{ tenantId: "nobody" }, ADMIN_KEY, 404, "NOT_FOUND"],
      [{}, ADMIN_KEY, 400, "INVALID_INPUT"],
      [{ tenantId: TENANT, cursor: "x" }, ADMIN_KEY, 400, "INVALID_INPUT"],
      [{ tenantId: TENANT, since: "now" }, ADMIN_KEY, 400, "INVALID_INPUT"],
      [{ tenantId: TENANT, cursor: foreign() }, ADMIN_KEY, 410, "CURSOR_EXPIRED"],
    ];
    for (const [query, token, status, code] of refusals) {
      const response = await open(query, { token });
      expect([code, response.status]).toEqual([code, status]);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ code, status });
    }
    expect((await server.http("reservations.watch", { tenantId: TENANT })).status).toBe(404);
  });

  it("is opened by a GET alone: no other verb leaves a stream behind", async () => {
    for (const method of ["HEAD", "OPTIONS", "POST"]) {
      const response = await fetch(`${server.url}/api/compute/events/stream?tenantId=${TENANT}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      expect([method, response.status]).toEqual([method, 405]);
      expect([method, await counter(server.url, "berth_streams ")]).toEqual([method, 0]);
    }
  });

  it("is not opened by a HEAD over tRPC either", async () => {
    const input = encodeURIComponent(JSON.stringify({ json: { tenantId: TENANT } }));
    const response = await fetch(`${server.url}/trpc/reservations.watch?input=${input}`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    expect(response.status).toBe(405);
    expect(await counter(server.url, "berth_streams ")).toBe(0);
  });

  it("has a form over tRPC that is refused in a batch, by its name and with the request's id", async () => {
    const one = { json: { tenantId: TENANT } };
    for (const [path, inputs] of [
      ["reservations.watch", { 0: one }],
      ["pools.list,reservations.watch", { 0: one, 1: one }],
    ] as const) {
      const input = encodeURIComponent(JSON.stringify(inputs));
      const url = `${server.url}/trpc/${path}?batch=1&input=${input}`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { json: { data: object } } };
      expect(error.json.data).toMatchObject({
        berth: {
          code: "INVALID_INPUT",
          message: expect.stringContaining("reservations.watch is a stream") as string,
          requestId: response.headers.get("x-request-id"),
        },
      });
    }
  });

  it("ends with the reason when its key is revoked, and counts no stream that is closed", async () => {
    const { key, secret } = await server.admin.access.createKey({
      tenantId: TENANT,
      role: "tenant-viewer",
      name: "short",
    });
    const response = await open({ tenantId: TENANT }, { token: secret });
    const cursor = (await server.admin.events.list({ tenantId: TENANT, limit: 1 })).events[0]
      ?.cursor;
    expect(cursor).toBeDefined();
    await server.admin.access.revokeKey({ keyId: key.id });
    const last = [];
    for await (const frame of frames(response)) last.push(frame);
    expect(last.at(-1)?.event).toBe("problem");
    expect(JSON.parse(last.at(-1)?.data ?? "")).toMatchObject({
      code: "UNAUTHENTICATED",
      status: 401,
    });
    const metric = (name: string) => counter(server.url, name);
    await expect.poll(() => metric("berth_streams "), { timeout: 10_000 }).toBe(0);
    expect(await metric('berth_streams_ended_total{reason="key"}')).toBe(1);
    expect(await metric("berth_feed_lag_seconds ")).toBe(0);
  });
});

const foreign = () => Buffer.from("0123456789abcdef.5.1").toString("base64url");

describe("the client's watch", () => {
  it("is told of a booking's life, typed by what happened", async () => {
    const tenantId = "t-a";
    const { poolId } = fleet;
    const berth = await server.as(tenantId);
    const controller = new AbortController();
    const told: string[] = [];
    const walk = async (): Promise<void> => {
      const stream = berth.reservations.watch({ tenantId, poolId }, { signal: controller.signal });
      for await (const event of stream) {
        told.push(event.type === "reservation.released" ? event.data.state : event.type);
        if (event.type === "reservation.released") break;
      }
    };
    const walking = walk();
    await expect.poll(() => counter(server.url, "berth_streams "), { timeout: 10_000 }).toBe(1);
    const { id: reservationId } = await berth.reservations.create({
      tenantId,
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
    });
    await berth.reservations.release({ tenantId, reservationId });
    await walking;
    expect(told).toEqual(["reservation.created", "released"]);
  });

  it("says that a cursor is expired", async () => {
    const watching = server.admin.reservations.watch({ tenantId: TENANT, lastEventId: foreign() });
    const error = await watching[Symbol.asyncIterator]()
      .next()
      .catch((thrown: unknown) => thrown);
    expect(isBerthError(error, "CURSOR_EXPIRED")).toBe(true);
  });

  it("goes on when its server stops in an orderly way and another answers in its place", async () => {
    const first = await spawnServer(server.database.url, METRICS);
    const berth = createBerth({ url: first.url, token: ADMIN_KEY, fetch: reroute });
    const types: string[] = [];
    const walk = async (): Promise<void> => {
      for await (const { type } of berth.reservations.watch({ tenantId: TENANT })) {
        types.push(type);
        if (types.length === 2) break;
      }
    };
    let to = first.url;
    function reroute(url: unknown, init?: RequestInit): Promise<Response> {
      return fetch(String(url).replace(first.url, to), init);
    }
    const walking = walk();
    await expect.poll(() => counter(first.url, "berth_streams "), { timeout: 20_000 }).toBe(1);
    await touch();
    await expect.poll(() => types, { timeout: 20_000 }).toHaveLength(1);
    to = server.url;
    const started = performance.now();
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    // An open stream does not use up the time that a drain has.
    expect(performance.now() - started).toBeLessThan(15_000);
    await touch();
    await walking;
    expect(types).toEqual(["pool.updated", "pool.updated"]);
  });
});
