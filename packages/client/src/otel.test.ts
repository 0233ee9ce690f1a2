import { SpanKind, SpanStatusCode, propagation, trace } from "@opentelemetry/api";
import type { Context, Span, SpanOptions, TextMapSetter, Tracer } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, inTurn, reservationId, unavailable, withServer } from "../test/berth-on-wire.ts";
import { otelHooks } from "./otel.ts";

/** A span as it was told. */
interface Told {
  readonly name: string;
  readonly options: SpanOptions;
  readonly attributes: Record<string, unknown>;
  status?: unknown;
  ended: number;
}

/** A tracer that writes down: the real one is an application's. */
function recording(): { tracer: Tracer; spans: Told[] } {
  const spans: Told[] = [];
  const startSpan = (name: string, options: SpanOptions = {}): Span => {
    const told: Told = { name, options, attributes: { ...options.attributes }, ended: 0 };
    const spanId = String(spans.push(told)).padStart(16, "0");
    const span: Partial<Span> = {
      spanContext: () => ({ traceId: "a".repeat(32), spanId, traceFlags: 1 }),
      setAttribute(key, value) {
        told.attributes[key] = value;
        return span as Span;
      },
      setStatus(status) {
        told.status = status;
        return span as Span;
      },
      end: () => void (told.ended += 1),
    };
    return span as Span;
  };
  return { tracer: { startSpan, startActiveSpan: undefined as never }, spans };
}

beforeAll(() => {
  propagation.setGlobalPropagator({
    inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>) {
      const { traceId, spanId } = trace.getSpanContext(context) ?? {};
      setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-01`);
    },
    extract: (context) => context,
    fields: () => ["traceparent"],
  });
});
afterAll(() => propagation.disable());

describe("otelHooks", () => {
  it("makes a client span of every try and sends its traceparent with it", async () => {
    const { tracer, spans } = recording();
    await withServer(
      inTurn(unavailable, { data: { id: reservationId } }),
      async (berth, server) => {
        await berth.reservations.create(ask);
        expect(server.arrived.map(({ headers }) => headers["traceparent"])).toEqual([
          `00-${"a".repeat(32)}-${"1".padStart(16, "0")}-01`,
          `00-${"a".repeat(32)}-${"2".padStart(16, "0")}-01`,
        ]);
      },
      { hooks: otelHooks({ tracer }) },
    );
    const common = { "rpc.system": "berth", "rpc.service": "reservations", "rpc.method": "create" };
    expect(spans.map(({ attributes }) => attributes)).toEqual([
      {
        ...common,
        "http.response.status_code": 503,
        "berth.request_id": "req-1",
        "error.type": "UNAVAILABLE",
      },
      {
        ...common,
        "http.request.resend_count": 1,
        "http.response.status_code": 200,
        "berth.request_id": "req-2",
      },
    ]);
    expect(spans.map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR, message: "told UNAVAILABLE" },
      undefined,
    ]);
    for (const { name, options, ended } of spans)
      expect([name, options.kind, ended]).toEqual(["reservations.create", SpanKind.CLIENT, 1]);
  });

  it("uses the program's own tracer, and costs nothing where there is none", async () => {
    await withServer(
      inTurn({ data: { id: reservationId } }),
      async (berth) => {
        expect(await berth.reservations.create(ask)).toEqual({ id: reservationId });
      },
      { hooks: otelHooks() },
    );
  });
});
