/** A program that traces: a span for each try, and its id sent along. */
import { propagation, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { createBerth } from "@berth/client";
import { otelHooks } from "@berth/client/otel";

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor({ exporter })];
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const sent = [];
const berth = createBerth({
  hooks: otelHooks(),
  fetch: (url, init) => {
    sent.push(new Headers(init.headers).get("traceparent"));
    return fetch(url, init);
  },
});

const { tenantId } = await berth.access.whoami();
await berth.pools.list({ tenantId });
await berth.reservations.get({ tenantId, reservationId: `rsv_${"0".repeat(26)}` }).safe();

const spans = exporter.getFinishedSpans();
const isCarried = spans.every((span, at) => sent[at]?.includes(span.spanContext().spanId));
console.log(
  `${spans.map(({ name, status }) => `${name} ${status.code}`).join(", ")}, ${isCarried ? "carried" : "not carried"}`,
);
