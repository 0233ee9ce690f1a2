/** Errors as RFC 9457 problems, for everything that is not tRPC; the same fields as tRPC's `data.berth`. */
import { ApiError, toApiError, toWire } from "@berth/api";
import { errors } from "@berth/contract";
import type { FastifyReply } from "fastify";

type WireError = ReturnType<typeof toWire>;

export interface Problem extends WireError {
  /** One URN a code; it names the kind of problem and is not an address. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

export function toProblem(error: ApiError, requestId: string): Problem {
  const wire = toWire(error, requestId);
  const entry = errors[error.code];
  return {
    type: `urn:berth:error:${error.code.toLowerCase().replaceAll("_", "-")}`,
    title: entry.sentence,
    status: entry.http,
    detail: wire.message,
    ...wire,
  };
}

/** Fastify's own refusals (size, syntax, media type) in our words; anything else as the API sees it. */
export function fromThrown(thrown: unknown): ApiError {
  const code = codeOf(thrown);
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new ApiError("TOO_LARGE");
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return notJson();
  }
  if (code?.startsWith("FST_ERR_CTP_") || thrown instanceof SyntaxError) {
    return new ApiError("INVALID_INPUT", { message: "The body is not valid JSON." });
  }
  return toApiError(thrown);
}

export const notJson = (): ApiError =>
  new ApiError("INVALID_INPUT", {
    message: "Send the input as JSON, with `content-type: application/json`.",
  });

function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Headers that every error carries, whatever its body looks like. */
export function errorHeaders(reply: FastifyReply, error: ApiError): void {
  const { retryable } = errors[error.code];
  void reply.header("x-should-retry", String(retryable));
  if (retryable && !reply.hasHeader("retry-after")) void reply.header("retry-after", "1");
}

/** @param status in place of the code's own, where HTTP has a more exact one */
export function sendProblem(reply: FastifyReply, error: ApiError, status?: number): FastifyReply {
  errorHeaders(reply, error);
  const own = toProblem(error, reply.request.id);
  const problem = status === undefined ? own : { ...own, status };
  return reply
    .code(problem.status)
    .header("content-type", "application/problem+json")
    .send(Buffer.from(JSON.stringify(problem)));
}
