/**
 * `@berth/client/otel`: a client span for every try of every call, by your program's own OpenTelemetry. Nothing is
 * sent anywhere unless your program does.
 */
import { SpanKind, SpanStatusCode, context, propagation, trace } from "@opentelemetry/api";
import type { Span, Tracer } from "@opentelemetry/api";
import type { Hooks, RequestInfo, ResponseInfo } from "./hooks.ts";

/** Where the spans go. */
export interface BerthOtelOptions {
  /** Makes the spans; default: the global provider's tracer `@berth/client`. */
  readonly tracer?: Tracer | undefined;
}

/**
 * Hooks that make a span of each try and send its `traceparent` with it. A span ends with the answer; a try that
 * failed is an error with the code as `error.type`.
 *
 * Attributes: `rpc.system` (`berth`), `rpc.service` and `rpc.method` (the method's two names),
 * `http.response.status_code`, `http.request.resend_count` from the first retry on, `berth.request_id`.
 *
 * @example
 * const berth = createBerth({ hooks: otelHooks() });
 */
export function otelHooks({ tracer }: BerthOtelOptions = {}): Hooks {
  const spans = new WeakMap<RequestInfo, Span>();
  return {
    onRequest(request) {
      const made = tracer ?? trace.getTracer("@berth/client");
      const span = made.startSpan(request.method, {
        kind: SpanKind.CLIENT,
        attributes: attributesOf(request),
      });
      spans.set(request, span);
      propagation.inject(trace.setSpan(context.active(), span), request.headers);
    },
    onResponse({ request, ...response }) {
      const span = spans.get(request);
      if (span) end(span, response);
    },
  };
}

function attributesOf({ method, attempt }: RequestInfo): Record<string, string | number> {
  const [service = "", name = ""] = method.split(".");
  return {
    "rpc.system": "berth",
    "rpc.service": service,
    "rpc.method": name,
    ...(attempt > 0 ? { "http.request.resend_count": attempt } : {}),
  };
}

function end(span: Span, { status, requestId, error }: Omit<ResponseInfo, "request">): void {
  if (status !== null) span.setAttribute("http.response.status_code", status);
  if (requestId !== null) span.setAttribute("berth.request_id", requestId);
  if (error !== null) {
    span.setAttribute("error.type", error.code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
  }
  span.end();
}
