/**
 * The server spans of one request: one for each call in it, begun when the request came and ended when its
 * answer was out. A call that is refused before it runs has one as well.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
} from "@opentelemetry/api";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_RPC_METHOD,
  ATTR_RPC_STATUS_CODE,
} from "@opentelemetry/semantic-conventions";
import type { CallRecord } from "../http/calls.ts";
import { callersTrace, traceHeader } from "./trace-context.ts";
import { type Spans, fail } from "./spans.ts";

export interface RequestFacts {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly requestId: string;
  /** The HTTP method. */
  readonly verb: string;
  /** Told once the first span is there: what the answer says of its trace. */
  answering(traceresponse: string): void;
}

export interface AnswerFacts {
  /** The pattern of the path. */
  readonly route: string | undefined;
  readonly status: number;
  /** The caller's own tenant; undefined for a stranger. */
  readonly tenantId: string | undefined;
}

export interface RequestTrace {
  /** Runs one call of the request under its span. */
  around<T>(method: string, work: () => Promise<T>): Promise<T>;
  /** The answer is out, or its caller gone: every call's span ends. */
  ended(calls: readonly CallRecord[], answer: AnswerFacts): void;
  /** The trace that log lines name; null before the first call ran. */
  readonly traceId: string | null;
}

/** Whose fault it is not the caller's: the others are answers like any other. */
const OURS: ReadonlySet<string> = new Set(["INTERNAL", "UNAVAILABLE"]);

export function createRequestTrace(spans: Spans, facts: RequestFacts): RequestTrace {
  const startTime = Date.now();
  const parent = parentOf(facts);
  const running = new Map<string, Span[]>();
  let first: Span | null = null;

  const begin = (method: string): Span => {
    const attributes: Attributes = {
      [ATTR_RPC_METHOD]: method,
      [ATTR_HTTP_REQUEST_METHOD]: facts.verb,
      "berth.request_id": facts.requestId,
    };
    const span = spans.start(method, { kind: SpanKind.SERVER, attributes, startTime, parent });
    first ??= span;
    return span;
  };

  return {
    get traceId() {
      return first?.spanContext().traceId ?? null;
    },
    around(method, work) {
      const isFirst = first === null;
      const span = begin(method);
      if (isFirst) facts.answering(traceHeader(span.spanContext()));
      const same = running.get(method);
      if (same) same.push(span);
      else running.set(method, [span]);
      return spans.within(span, work);
    },
    ended(calls, { route, status, tenantId }) {
      for (const { method, code } of calls) {
        const span = running.get(method)?.shift() ?? begin(method);
        span.setAttributes({
          [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
          [ATTR_RPC_STATUS_CODE]: code,
          ...(route === undefined ? {} : { [ATTR_HTTP_ROUTE]: route }),
          ...(tenantId === undefined ? {} : { "berth.tenant_id": tenantId }),
        });
        if (OURS.has(code)) fail(span, code);
        else if (code !== "OK") span.setAttribute(ATTR_ERROR_TYPE, code);
        span.end();
      }
      for (const left of running.values()) for (const span of left) span.end();
      running.clear();
    },
  };
}

function parentOf({ headers }: RequestFacts): Context | null {
  const caller = callersTrace(headers["traceparent"], headers["tracestate"]);
  return caller === null ? null : trace.setSpanContext(ROOT_CONTEXT, caller);
}
