/** Spans of one tracer, and which of them the running code works for. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  type TimeInput,
  type Tracer,
  trace,
} from "@opentelemetry/api";

/** Starting spans, and knowing which one the running code works for. */
export interface Spans {
  start(name: string, options: SpanStart): Span;
  /** The span that the running code works for; null outside of a traced call. */
  active(): Span | null;
  within<T>(span: Span, work: () => T): T;
}

export interface SpanStart {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly startTime?: TimeInput;
  /** A span of ours, a caller's context, or null for a trace of its own. */
  readonly parent: Span | Context | null;
}

export function createSpans(tracer: Tracer): Spans {
  const storage = new AsyncLocalStorage<Span>();
  return {
    active: () => storage.getStore() ?? null,
    within: (span, work) => storage.run(span, work),
    start: (name, { parent, ...options }) => tracer.startSpan(name, options, contextOf(parent)),
  };
}

function contextOf(parent: SpanStart["parent"]): Context {
  if (parent === null) return ROOT_CONTEXT;
  return "spanContext" in parent ? trace.setSpan(ROOT_CONTEXT, parent) : parent;
}

/** Ends the span with the kind of its failure; a message may hold what is nobody else's business. */
export function fail(span: Span, kind: string): void {
  span.setAttribute("error.type", kind).setStatus({ code: SpanStatusCode.ERROR });
}
