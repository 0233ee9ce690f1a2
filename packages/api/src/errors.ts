/**
 * The one error of this package and its way to the wire. What a person may read and what the log may hold
 * are two fields; nothing of a driver, a file or a stack crosses.
 */
import {
  type ErrorCode,
  type ErrorDetails,
  type WireError,
  errors,
  inputIssues,
} from "@berth/contract";
import { isTransient, sqlState } from "@berth/db";
import type { InputIssue, Refusal } from "@berth/domain";
import { TRPCError } from "@trpc/server";
import { z } from "zod";

export type Details = Readonly<Record<string, unknown>>;

export interface ApiErrorParts {
  readonly message?: string | undefined;
  readonly issues?: readonly InputIssue[] | undefined;
  readonly details?: Details | undefined;
  /** For the log only. */
  readonly internal?: string | undefined;
  readonly cause?: unknown;
}

/** A refused call. Made in groups, authorize.ts and visibility.ts; its code is in the contract's registry. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly issues: readonly InputIssue[] | undefined;
  readonly details: Details | undefined;
  readonly internal: string | undefined;

  constructor(code: ErrorCode, parts: ApiErrorParts = {}) {
    const publicMessage = parts.message ?? SENTENCES[code] ?? errors[code].sentence;
    super(publicMessage, { cause: parts.cause });
    this.name = "ApiError";
    this.code = code;
    this.publicMessage = publicMessage;
    this.issues = parts.issues;
    this.details = parts.details;
    this.internal = parts.internal;
  }
}

/** One answer for what is not there and what the caller may not know of. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: "It does not exist, or this caller may not see it.",
  UNAUTHENTICATED: "Give a valid key or sign-in token as `Authorization: Bearer <token>`.",
  UNAVAILABLE: "The service cannot answer right now; try again in a moment.",
  INTERNAL: "Something went wrong on our side; quote the request id when you report it.",
};

export function notFound(internal?: string): ApiError {
  return new ApiError("NOT_FOUND", { internal });
}

/** A refused input field; `path` leads to it. */
export function invalidInput(path: readonly (string | number)[], message: string): ApiError {
  return fromIssues([{ path, message }]);
}

export function fromIssues(issues: readonly InputIssue[]): ApiError {
  return new ApiError("INVALID_INPUT", { message: sentenceOf(issues), issues });
}

const MESSAGE_MAX = 4_096;

/** The first issue as a sentence; how many more there are. */
function sentenceOf(issues: readonly InputIssue[]): string {
  const first = issues[0];
  if (!first) return errors.INVALID_INPUT.sentence;
  const at = first.path.length > 0 ? `${pathText(first.path)}: ` : "";
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  return `${at}${first.message}${more}`;
}

/** A path as people write it: `nodes[3].gpus[0].uuid`. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join("");
}

export interface ConflictParts {
  readonly message: string;
  /** What it conflicts with. */
  readonly ids?: readonly string[] | undefined;
  /** The plan as it is now. */
  readonly plan?: Details | undefined;
}

/** The only maker of a CONFLICT: its details always have all three fields. */
export function conflict(
  kind: ErrorDetails<"CONFLICT">["kind"],
  { message, ids, plan }: ConflictParts,
): ApiError {
  const details = { kind, ids: ids ?? null, plan: plan ?? null };
  return new ApiError("CONFLICT", { message, details });
}

/** The domain's refusals, arm by arm, as the API's codes. */
export function fromRefusal(refusal: Refusal): ApiError {
  switch (refusal.code) {
    case "INVALID_INPUT":
      return fromIssues(refusal.issues);
    case "NOT_FOUND":
      return notFound();
    case "FORBIDDEN":
    case "INVALID_STATE":
    case "RATE_LIMITED":
      return new ApiError(refusal.code, { message: refusal.message });
    case "CONFLICT":
      return conflict(refusal.kind, refusal);
    case "NO_CAPACITY": {
      const { reason, earliestStart, searchedTo, latestEnd = null } = refusal;
      const details = { reason, earliestStart, searchedTo, latestEnd };
      return new ApiError("NO_CAPACITY", { message: reason.message, details });
    }
    case "QUOTA_EXCEEDED":
      return quotaExceeded(refusal);
  }
}

/** A descendant learns what remains of the row it draws on, never the row. */
function quotaExceeded(refusal: Extract<Refusal, { code: "QUOTA_EXCEEDED" }>): ApiError {
  const { resource, max, peak, remaining, requested } = refusal;
  if (max === null)
    return new ApiError("QUOTA_EXCEEDED", {
      message: `${requested} ${resource} asked for, ${remaining ?? 0} of the quota remain in this window.`,
      details: { resource, max, peak: null, remaining, requested },
    });
  return new ApiError("QUOTA_EXCEEDED", {
    message:
      max === 0
        ? `${requested} ${resource} asked for, and the tenant has no quota of ${resource} in this pool.`
        : `${requested} ${resource} asked for, ${peak ?? 0} of ${max} are in use in this window.`,
    details: { resource, max, peak, remaining: null, requested },
  });
}

/** What the wire carries of an error, on every surface; absent parts are null. */
export function toWire(error: ApiError, requestId: string): WireError {
  return {
    code: error.code,
    message: error.publicMessage.slice(0, MESSAGE_MAX),
    retryable: errors[error.code].retryable,
    requestId,
    issues: error.issues?.map(({ path, message }) => ({ path: [...path], message })) ?? null,
    // The registry's schemas say what each code carries; the constructors above fill it in.
    details: (error.details ?? null) as WireError["details"],
  };
}

/** Names of what the engine throws when it cannot decide; by name, so that no copy of the class matters. */
const UNAVAILABLE_NAMES = new Set(["Overloaded", "Unavailable", "Cancelled", "UnknownOutcome"]);

/** Anything thrown, as the one error. What is not expected becomes INTERNAL and keeps its cause for the log. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof TRPCError) return fromTrpc(thrown);
  if (isUnavailable(thrown)) return new ApiError("UNAVAILABLE", { cause: thrown });
  return new ApiError("INTERNAL", { cause: thrown });
}

function isUnavailable(thrown: unknown): boolean {
  return isTransient(thrown) || (thrown instanceof Error && UNAVAILABLE_NAMES.has(thrown.name));
}

/** tRPC's own errors: parsing, unknown paths, sizes; and ours on the way through it. */
function fromTrpc(error: TRPCError): ApiError {
  if (error.cause instanceof ApiError) return error.cause;
  if (error.cause instanceof z.ZodError && error.code === "BAD_REQUEST")
    return fromIssues(inputIssues(error.cause));
  switch (error.code) {
    case "PARSE_ERROR":
    case "BAD_REQUEST":
    case "UNSUPPORTED_MEDIA_TYPE":
      return new ApiError("INVALID_INPUT", {
        message: "The body is not JSON of the expected form.",
        internal: error.message,
      });
    case "NOT_FOUND":
    case "METHOD_NOT_SUPPORTED":
      return new ApiError("NOT_FOUND", {
        message: "There is no such method.",
        internal: error.message,
      });
    case "PAYLOAD_TOO_LARGE":
      return new ApiError("TOO_LARGE");
    case "CLIENT_CLOSED_REQUEST":
      return new ApiError("UNAVAILABLE", { internal: error.message });
    default:
      return error.cause ? toApiError(error.cause) : new ApiError("INTERNAL", { cause: error });
  }
}

/**
 * What the log may hold of an unexpected error: name, SQL state and stack. The driver's error object holds
 * parameters and the statement, so it is never logged itself.
 */
export function logFields(error: ApiError): Record<string, unknown> {
  const { cause } = error;
  const state = sqlState(cause);
  return {
    code: error.code,
    ...(error.internal ? { internal: error.internal } : {}),
    ...(cause instanceof Error ? { cause: cause.name, stack: framesOf(cause, state) } : {}),
    ...(state ? { sqlState: state } : {}),
  };
}

/** A message can be as long as the input that it complains of, and a stack begins with it. */
const HEAD_MAX = 1_024;
const FRAMES_MAX = 20;

/** What the driver and Drizzle say may quote a row or the statement; our own words do not. */
function framesOf(cause: Error, state: string | undefined): string {
  const { stack = "" } = cause;
  const frames = stack
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .slice(-FRAMES_MAX);
  const quotes = state !== undefined || "query" in cause || "params" in cause;
  const head = stack.split("\n    at ", 1).map((text) => text.slice(0, HEAD_MAX));
  return [...(quotes ? [] : head), ...frames].join("\n");
}
