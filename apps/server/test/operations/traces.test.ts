/** Traces as a collector gets them, and what they cost when it is slow, broken or gone. */
import { createBerth } from "@berth/client";
import { afterEach, expect, it } from "vitest";
import { readConfig } from "../../src/index.ts";
import { callersTrace, traceHeader } from "../../src/tracing/trace-context.ts";
import { ADMIN_KEY, type TestServer, pool, startServer } from "../harness.ts";
import { type Collector, type SentSpan, startCollector } from "./collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const ENV = { OTEL_BSP_SCHEDULE_DELAY: "10" };

const running: TestServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function traced(
  collector: Pick<Collector, "url">,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const { tracing } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...ENV,
    ...environment,
  });
  const server = await startServer({ config: { tracing, metricsToken: "m".repeat(32) } });
  running.push(server);
  return server;
}

const named = (name: string) => (span: SentSpan) => span.name === name;

it("a booking is a server span in its caller's trace, with its batch and the gated write below", async () => {
  await using collector = await startCollector();
  const server = await traced(collector, {
    OTEL_SERVICE_NAME: "berth-test",
    OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=let%20me%20in",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=ci",
  });
  const { poolId } = await server.fleet(pool(1, 8));
  const answer = await server.http(
    "reservations.create",
    {
      tenantId: "t-a",
      poolId,
      devices: [{ class: "gpu", count: 1 }],
      duration: "1h",
      idempotencyKey: "one",
    },
    {
      token: await server.token("t-a"),
      headers: { traceparent: TRACEPARENT, "x-request-id": "req-1" },
    },
  );
  expect(answer.status).toBe(200);
  const spans = await collector.until(
    (all) => all.filter(({ traceId }) => traceId === TRACE).length >= 5,
  );
  const mine = spans.filter(({ traceId }) => traceId === TRACE);
  const one = (name: string) => mine.find(named(name)) as SentSpan;
  const call = one("reservations.create");
  expect(call).toMatchObject({
    kind: 2,
    parentSpanId: CALLER,
    status: 0,
    attributes: {
      "rpc.method": "reservations.create",
      "rpc.status_code": "OK",
      "http.request.method": "POST",
      "http.route": "/api/compute/reservations/create",
      "http.response.status_code": 200,
      "berth.request_id": "req-1",
      "berth.tenant_id": "t-a",
    },
  });
  expect(answer.headers.get("traceresponse")).toBe(`00-${TRACE}-${call.spanId}-01`);
  expect(one("pool.submit").parentSpanId).toBe(call.spanId);
  expect(one("engine.batch").parentSpanId).toBe(one("pool.submit").spanId);
  expect(one("engine.plan").parentSpanId).toBe(one("engine.batch").spanId);
  expect(one("gate.write")).toMatchObject({
    kind: 3,
    parentSpanId: one("engine.batch").spanId,
    attributes: {
      "db.system.name": "postgresql",
      "db.stored_procedure.name": "berth_apply_v1",
      "berth.gate.outcome": "ok",
    },
  });
  for (const span of mine) {
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    expect(span.startMs).toBeGreaterThanOrEqual(call.startMs - 1);
  }
  expect(collector.headers[0]).toMatchObject({ "x-collector-key": "let me in" });
  expect(collector.resources[0]).toMatchObject({
    "service.name": "berth-test",
    "deployment.environment.name": "ci",
  });
});

it("calls that one batch decides are linked to it, and it to them", async () => {
  await using collector = await startCollector();
  const server = await traced(collector);
  const { poolId } = await server.fleet(pool(2, 8));
  const a = await server.as("t-a");
  const ask = { tenantId: "t-a", poolId, devices: [{ class: "gpu" as const, count: 1 }] };
  const both = () =>
    Promise.all([0, 1, 2, 3].map(() => a.reservations.create({ ...ask, duration: "1h" })));
  await both();
  await both();
  const spans = await collector.until(
    (all) => all.filter(named("reservations.create")).length >= 8 && all.some(shared),
  );
  const batch = spans.find(shared) as SentSpan;
  const linked = batch.links.map(({ spanId }) => spans.find((span) => span.spanId === spanId));
  for (const wait of linked) {
    expect(wait).toMatchObject({ name: "pool.submit", links: [{ spanId: batch.spanId }] });
    expect(wait?.traceId).not.toBe(batch.traceId);
  }
});

const shared = (span: SentSpan) => span.name === "engine.batch" && span.links.length > 0;

it("reads that travel together have a server span each", async () => {
  await using collector = await startCollector();
  const server = await traced(collector);
  const { poolId } = await server.fleet(pool(1, 8));
  const a = await server.as("t-a");
  const preview = {
    tenantId: "t-a",
    poolId,
    devices: [{ class: "gpu" as const, count: 1 }],
    duration: "1h",
  };
  await Promise.all([
    a.capacity.preview(preview),
    a.pools.get({ tenantId: "t-a", poolId }),
    a.reservations.list({ tenantId: "t-a" }),
  ]);
  const names = ["capacity.preview", "pools.get", "reservations.list"];
  const spans = await collector.until((all) => names.every((name) => all.some(named(name))));
  const preview_ = spans.find(named("capacity.preview"));
  const read = spans.filter(named("pool.read"));
  expect(read.map(({ parentSpanId }) => parentSpanId)).toContain(preview_?.spanId);
  for (const name of names) expect(spans.find(named(name))).toMatchObject({ kind: 2 });
});

it("what is refused is a span with its code, and only our own faults are errors", async () => {
  await using collector = await startCollector();
  const server = await traced(collector);
  await server.http("pools.list", { tenantId: "t-a" }, { token: "nobody" });
  await server.http("pools.list", { tenantId: "nobody" });
  const spans = await collector.until((all) => all.filter(named("pools.list")).length === 2);
  const codes = spans.filter(named("pools.list")).map(({ attributes, status }) => ({
    code: attributes["rpc.status_code"],
    type: attributes["error.type"],
    status,
  }));
  expect(codes).toEqual([
    { code: "UNAUTHENTICATED", type: "UNAUTHENTICATED", status: 0 },
    { code: "NOT_FOUND", type: "NOT_FOUND", status: 0 },
  ]);
});

it("no span holds a key, an input, or what another tenant did", async () => {
  await using collector = await startCollector();
  const server = await traced(collector);
  const { poolId } = await server.fleet(pool(1, 8));
  const [a, b] = [await server.as("t-a"), await server.as("t-b")];
  const ask = (tenantId: string) => ({
    tenantId,
    poolId,
    devices: [{ class: "gpu" as const, count: 1 }],
    duration: "1h",
    idempotencyKey: `CANARY-${tenantId}`,
  });
  await Promise.all([a.reservations.create(ask("t-a")), b.reservations.create(ask("t-b"))]);
  const spans = await collector.until(
    (all) => all.filter(named("reservations.create")).length === 2,
  );
  const text = collector.bodies.join("\n");
  const tokens = [ADMIN_KEY, await server.token("t-a"), await server.token("t-b")];
  for (const secret of [...tokens, "CANARY", "select", "insert into"])
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
  for (const traceId of new Set(spans.map((span) => span.traceId))) {
    const tenants = spans
      .filter((span) => span.traceId === traceId)
      .flatMap(({ attributes }) => attributes["berth.tenant_id"] ?? []);
    expect(new Set(tenants).size, traceId).toBeLessThanOrEqual(1);
  }
});

it("a caller whose trace is not sampled is not traced, and a sampler of ours can overrule that", async () => {
  await using collector = await startCollector();
  const headers = { traceparent: `00-${TRACE}-${CALLER}-00` };
  const parentBased = await traced(collector);
  await parentBased.http("access.whoami", {}, { headers });
  await parentBased.http("pools.list", { tenantId: "platform" });
  await collector.until((all) => all.some(named("pools.list")));
  expect(collector.spans.some(named("access.whoami"))).toBe(false);
  const always = await traced(collector, { OTEL_TRACES_SAMPLER: "always_on" });
  await always.http("access.whoami", {}, { headers });
  await collector.until((all) => all.some(named("access.whoami")));
});

it.each([
  ["is gone", () => "http://127.0.0.1:1"],
  ["answers 503", async () => (await broken(() => 503)).url],
  ["never answers", async () => (await broken(() => "never")).url],
])("a collector that %s costs its spans and nothing else", async (_what, url) => {
  const server = await traced(
    { url: await url() },
    { OTEL_BSP_MAX_QUEUE_SIZE: "20", OTEL_EXPORTER_OTLP_TIMEOUT: "500" },
  );
  const { poolId } = await server.fleet(pool(1, 8));
  const a = await server.as("t-a");
  const ask = { tenantId: "t-a", poolId, devices: [{ class: "gpu" as const, count: 1 }] };
  for (let n = 0; n < 15; n += 1) {
    const { id } = await a.reservations.create({ ...ask, duration: "1h" });
    await a.reservations.release({ tenantId: "t-a", reservationId: id });
  }
  const response = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${"m".repeat(32)}` },
  });
  const text = await response.text();
  const count = (outcome: string) =>
    Number(new RegExp(`berth_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
  expect(count("sent")).toBe(0);
  expect(count("failed") + count("dropped")).toBeGreaterThan(0);
  const started = performance.now();
  await running.pop()?.stop();
  expect(performance.now() - started).toBeLessThan(10_000);
});

const opened: Collector[] = [];
afterEach(async () => {
  for (const collector of opened.splice(0)) await collector[Symbol.asyncDispose]();
});
async function broken(answer: () => number | "never"): Promise<Collector> {
  const collector = await startCollector(answer);
  opened.push(collector);
  return collector;
}

it("what is finished is sent before the process ends", async () => {
  await using collector = await startCollector();
  const server = await traced(collector, { OTEL_BSP_SCHEDULE_DELAY: "60000" });
  await createBerth({ url: server.url, token: ADMIN_KEY }).access.whoami();
  expect(collector.bodies).toEqual([]);
  await running.pop()?.stop();
  expect(collector.spans.some(named("access.whoami"))).toBe(true);
});

it("without a collector nothing is loaded and no answer names a trace", async () => {
  const server = await startServer();
  running.push(server);
  const answer = await server.http("access.whoami", {}, { headers: { traceparent: TRACEPARENT } });
  expect(answer.headers.get("traceresponse")).toBeNull();
});

it("only a well-formed traceparent is followed", () => {
  const valid = { traceId: TRACE, spanId: CALLER, traceFlags: 1, isRemote: true };
  expect(callersTrace(TRACEPARENT, undefined)).toEqual(valid);
  expect(callersTrace(`01-${TRACE}-${CALLER}-01-more`, undefined)).toEqual(valid);
  expect(callersTrace(TRACEPARENT, "a=1")?.traceState?.serialize()).toBe("a=1");
  expect(callersTrace(TRACEPARENT, "a".repeat(513))).toEqual(valid);
  for (const bad of [
    undefined,
    "",
    "garbage",
    [TRACEPARENT, TRACEPARENT],
    `ff-${TRACE}-${CALLER}-01`,
    `00-${TRACE}-${CALLER}-01-more`,
    `00-${"0".repeat(32)}-${CALLER}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    TRACEPARENT.toUpperCase().replace("00-4B", "00-4B"),
  ])
    expect(callersTrace(bad, undefined), String(bad)).toBeNull();
  expect(traceHeader(valid)).toBe(TRACEPARENT);
});
