/** W3C Trace Context: the trace that a caller is in, and the one that it is told of. */
import { type SpanContext, TraceFlags, createTraceState } from "@opentelemetry/api";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZERO = /^0+$/;
/** What the recommendation asks everybody to carry on; nobody needs more. */
const STATE_MAX = 512;

type Header = string | readonly string[] | undefined;

/** Null when the caller names no trace, or none that can be: it then begins here. */
export function callersTrace(traceparent: Header, tracestate: Header): SpanContext | null {
  if (typeof traceparent !== "string") return null;
  const [, version, traceId = "", spanId = "", flags = "", more] =
    TRACEPARENT.exec(traceparent) ?? [];
  // Later versions may say more after these four; this one may not, and ff never is one.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined))
    return null;
  if (ZERO.test(traceId) || ZERO.test(spanId)) return null;
  const state = typeof tracestate === "string" ? tracestate : "";
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(state === "" || state.length > STATE_MAX ? {} : { traceState: createTraceState(state) }),
  };
}

/** The same notation, of a span of ours. */
export function traceHeader({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
