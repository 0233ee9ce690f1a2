/** Errors as RFC 9457 problems, for everything that is not tRPC; the same fields as tRPC's `data.berth`. */
import { ApiError, pathText, toApiError, toWire } from "@berth/api";
import { ERROR_KINDS, ERROR_PAGES, errorKindOf, errors } from "@berth/contract";
import type { FastifyReply } from "fastify";

type WireError = ReturnType<typeof toWire>;
type Issue = NonNullable<WireError["issues"]>[number];

export interface Problem extends WireError {
  /** The address of the kind's page on this server. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly errors: readonly Fault[] | null;
}

interface Fault {
  readonly pointer: string;
  readonly path: string;
  readonly detail: string;
}

declare module "fastify" {
  interface FastifyInstance {
    /** Where callers reach this server, without a slash at the end; empty: addresses are relative. */
    publicUrl: string;
  }
}

/** @param publicUrl what a problem's address begins with */
export function toProblem(error: ApiError, requestId: string, publicUrl: string): Problem {
  const wire = toWire(error, requestId);
  const kind = errorKindOf(error.code, wire.details);
  return {
    type: `${publicUrl}${ERROR_PAGES}/${kind}`,
    title: ERROR_KINDS.get(kind)?.title ?? errors[error.code].sentence,
    status: errors[error.code].http,
    detail: wire.message,
    instance: requestId,
    errors: wire.issues?.map(faultOf) ?? null,
    ...wire,
  };
}

function faultOf({ path, message }: Issue): Fault {
  const steps = path.map((step) => `/${encodeURIComponent(escaped(String(step)))}`);
  return { pointer: `#${steps.join("")}`, path: pathText(path), detail: message };
}

/** A field's name as a step of a JSON Pointer (RFC 6901). */
const escaped = (name: string) => name.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");

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

/** What a 401 says of how to sign in (RFC 6750); the same whether there was a token or not, as its body is. */
export const CHALLENGE = { "www-authenticate": 'Bearer realm="berth"' } as const;

/** Headers that every error carries, whatever its body looks like. */
export function errorHeaders(reply: FastifyReply, error: ApiError): void {
  const { retryable, http } = errors[error.code];
  if (http === 401) void reply.headers(CHALLENGE);
  void reply.header("x-should-retry", String(retryable));
  if (retryable && !reply.hasHeader("retry-after")) void reply.header("retry-after", "1");
}

/** @param status in place of the code's own, where HTTP has a more exact one */
export function sendProblem(reply: FastifyReply, error: ApiError, status?: number): FastifyReply {
  errorHeaders(reply, error);
  const own = toProblem(error, reply.request.id, reply.server.publicUrl);
  const problem = status === undefined ? own : { ...own, status };
  return reply
    .code(problem.status)
    .header("content-type", "application/problem+json")
    .send(Buffer.from(JSON.stringify(problem)));
}
