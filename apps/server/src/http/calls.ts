/** What the hooks of a request know about the calls in it; both surfaces fill it in. */
import type { ApiContext, ApiError, Principal } from "@berth/api";
import { type ErrorCode, METHOD_NAMES } from "@berth/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RequestTrace } from "../tracing/request-trace.ts";

/** One call of a request; a batch has several. */
export interface CallRecord {
  /** `group.method`, or `unknown`. */
  readonly method: string;
  code: ErrorCode | "OK";
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set once the key was accepted. */
    principal: Principal | null;
    /** What the API knows of the request; null before the key was looked at. */
    context: ApiContext | null;
    calls: CallRecord[];
    /** Why the request was refused before its call ran; the API logs what goes wrong after that. */
    refusal: ApiError | null;
    /** Null while nobody follows calls. */
    trace: RequestTrace | null;
  }
}

const NAMES: ReadonlySet<string> = new Set(METHOD_NAMES);

/** Only names of the contract become labels and log fields: nobody else chooses them. */
export function recordOf(path: string): CallRecord {
  return { method: NAMES.has(path) ? path : "unknown", code: "OK" };
}

export function failed(request: FastifyRequest, code: ErrorCode): void {
  for (const call of request.calls) call.code = code;
}

/** The request ends before its calls run. */
export function refused(request: FastifyRequest, error: ApiError): void {
  request.refusal = error;
  failed(request, error.code);
}

export const MIB = 1_048_576;
/** A site's nodes come in one call; everything else is small. */
export const bodyLimitOf = (path: string): number => (path === "fleet.putNodes" ? 8 : 1) * MIB;

/** Aborted when the caller goes away before the answer is out. */
export function callerGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Lets a caller go who does not read its stream: nothing that waits for it is kept. */
export function hangingUp(context: ApiContext, reply: FastifyReply): ApiContext {
  return { ...context, hangUp: () => void reply.raw.destroy() };
}

/** Set by the gatekeeper before any handler runs. */
export function contextOf(request: FastifyRequest): ApiContext {
  const { context, trace, turn } = request;
  if (context) return { ...context, around: trace?.around, resting: turn?.resting.bind(turn) };
  throw new Error("a call reached its handler without passing the gatekeeper");
}
