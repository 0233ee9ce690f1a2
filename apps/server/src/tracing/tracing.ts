/**
 * OpenTelemetry traces: a server span a call, under it what the engine did for it. Loaded only when a collector
 * is named. Nothing is registered globally, and no span holds a token, an input, an output or SQL.
 */
import { hostname } from "node:os";
import type { Span } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from "@opentelemetry/semantic-conventions";
import type { Engine, EngineObserver } from "@berth/engine";
import type { Logger } from "pino";
import { type SpanFigures, createExporting } from "./exporting.ts";
import { type RequestFacts, type RequestTrace, createRequestTrace } from "./request-trace.ts";
import type { TracingSettings } from "./settings.ts";
import { createSpans } from "./spans.ts";
import { batchSpans, tracedEngine } from "./traced-engine.ts";

/** How long the end of the process waits for the collector, milliseconds. */
const FLUSH_MS = 3_000;

export interface TracingOptions {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly log: Logger;
}

export interface Tracing {
  /** Follows one request, from its headers on. */
  request(facts: RequestFacts): RequestTrace;
  /** The engine, with a span for whatever a traced call has it do. */
  engine(engine: Engine): Engine;
  /** Spans of the batches that traced calls were decided in. */
  readonly batch: NonNullable<EngineObserver["batch"]>;
  figures(): SpanFigures;
  /** Sends what is finished, as far as the collector takes it within 3 s. */
  stop(): Promise<void>;
}

export function createTracing({ settings, version, log }: TracingOptions): Tracing {
  const exporting = createExporting(settings, log);
  const provider = new TracerProvider({
    sampler: samplerOf(settings),
    spanProcessors: [exporting.processor],
    spanLimits: { attributeValueLengthLimit: 256, linkCountLimit: 128 },
    resource: resourceFromAttributes({
      ...settings.attributes,
      [ATTR_SERVICE_NAME]: settings.serviceName,
      [ATTR_SERVICE_VERSION]: version,
      [ATTR_SERVICE_INSTANCE_ID]: `${hostname()}:${process.pid}`,
    }),
  });
  const spans = createSpans(provider.getTracer("berth", version));
  const engineSpans = new WeakMap<object, Span>();
  return {
    request: (facts) => createRequestTrace(spans, facts),
    engine: (engine) => tracedEngine(engine, spans, engineSpans),
    batch: batchSpans(spans, engineSpans),
    figures: exporting.figures,
    async stop() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, FLUSH_MS);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
