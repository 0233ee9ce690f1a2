/**
 * The way of spans to the collector: batched, bounded, and counted where they are lost. Nothing here is ever
 * waited for by a call; a collector that is down costs its spans and one line of log.
 */
import { TraceFlags } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { TracingSettings } from "./settings.ts";

/** What became of finished spans so far. */
export interface SpanFigures {
  /** Taken by the collector. */
  readonly sent: number;
  /** The collector was not reached, or refused them. */
  readonly failed: number;
  /** The queue was full. */
  readonly dropped: number;
}

export interface Exporting {
  readonly processor: SpanProcessor;
  figures(): SpanFigures;
}

/** Spans of one request to the collector; never more than the queue holds. */
const EXPORT_MAX = 512;

export function createExporting(settings: TracingSettings, log: Logger): Exporting {
  const { url, headers, timeoutMs, queueMax, delayMs } = settings;
  const figures = { sent: 0, failed: 0, dropped: 0 };
  /** Finished, and not yet on their way. */
  let waiting = 0;
  let failing = false;

  const told = (error: Error | undefined): void => {
    if ((error !== undefined) === failing) return;
    failing = error !== undefined;
    if (failing) log.warn({ cause: causeOf(error) }, "the collector does not take traces");
    else log.info({}, "the collector takes traces again");
  };

  const otlp = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: timeoutMs });
  const exporter: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length;
      otlp.export(spans, (result) => {
        const ok = result.code === 0;
        figures[ok ? "sent" : "failed"] += spans.length;
        told(ok ? undefined : (result.error ?? new Error("refused")));
        // A failure is counted and told of; the processor could only do it again.
        done({ code: 0 });
      });
    },
    shutdown: () => otlp.shutdown(),
  };
  const batched = new BatchSpanProcessor({
    exporter,
    maxQueueSize: queueMax,
    maxExportBatchSize: Math.min(EXPORT_MAX, queueMax),
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: 2 * timeoutMs,
  });
  const processor: SpanProcessor = {
    onStart: () => undefined,
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      // Counted here, because the processor tells nobody how many it drops.
      if (waiting >= queueMax) {
        figures.dropped += 1;
        return;
      }
      waiting += 1;
      batched.onEnd(span);
    },
    forceFlush: () => batched.forceFlush(),
    shutdown: () => batched.shutdown(),
  };
  return { processor, figures: () => ({ ...figures }) };
}

/** The status or the system's code: a message may hold what the collector answered. */
function causeOf(error: Error | undefined): string | number {
  const code: unknown = error && "code" in error ? error.code : undefined;
  return typeof code === "string" || typeof code === "number" ? code : (error?.name ?? "unknown");
}
