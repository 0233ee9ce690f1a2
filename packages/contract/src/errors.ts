/**
 * Every error a caller can get, for good: codes are never renamed or reused. The mapping to HTTP and tRPC is
 * here and nowhere else.
 */
import { z } from "zod";
import { reason } from "./capacity.ts";
import { LIMITS, amount, integer, list, resourceKey, text, time } from "./common.ts";

export interface ErrorEntry {
  /** HTTP status. */
  readonly http: number;
  /** tRPC's name of it. */
  readonly trpc:
    | "BAD_REQUEST"
    | "UNAUTHORIZED"
    | "FORBIDDEN"
    | "NOT_FOUND"
    | "CONFLICT"
    | "PRECONDITION_FAILED"
    | "PAYLOAD_TOO_LARGE"
    | "TOO_MANY_REQUESTS"
    | "SERVICE_UNAVAILABLE"
    | "INTERNAL_SERVER_ERROR";
  /** The same call may succeed later without a change. */
  readonly retryable: boolean;
  readonly whoActs: "caller" | "tenant-admin" | "operator" | "nobody";
  /** For people: what it means. */
  readonly sentence: string;
}

export const errors = {
  INVALID_INPUT: {
    http: 400,
    trpc: "BAD_REQUEST",
    retryable: false,
    whoActs: "caller",
    sentence:
      "The input is not as the method takes it; `issues` names each field that is at fault.",
  },
  UNAUTHENTICATED: {
    http: 401,
    trpc: "UNAUTHORIZED",
    retryable: false,
    whoActs: "caller",
    sentence: "There is no token, or it is unknown, revoked or expired.",
  },
  FORBIDDEN: {
    http: 403,
    trpc: "FORBIDDEN",
    retryable: false,
    whoActs: "tenant-admin",
    sentence: "You can see it, but your role or your key's scope does not allow this.",
  },
  NOT_FOUND: {
    http: 404,
    trpc: "NOT_FOUND",
    retryable: false,
    whoActs: "caller",
    sentence: "It does not exist, or it is not yours to know of.",
  },
  CONFLICT: {
    http: 409,
    trpc: "CONFLICT",
    retryable: false,
    whoActs: "caller",
    sentence:
      "Something moved first: the key was used for another request, the version is stale, or the plan changed.",
  },
  NO_CAPACITY: {
    http: 409,
    trpc: "CONFLICT",
    retryable: false,
    whoActs: "caller",
    sentence:
      "It does not fit; `details.reason` says why and `details.earliestStart` when it would.",
  },
  QUOTA_EXCEEDED: {
    http: 409,
    trpc: "CONFLICT",
    retryable: false,
    whoActs: "tenant-admin",
    sentence: "It would pass the tenant's quota in the pool, whether or not there is room.",
  },
  CURSOR_EXPIRED: {
    http: 410,
    trpc: "PRECONDITION_FAILED",
    retryable: false,
    whoActs: "caller",
    sentence: "The cursor is from before a restore or older than what is kept: list again.",
  },
  INVALID_STATE: {
    http: 412,
    trpc: "PRECONDITION_FAILED",
    retryable: false,
    whoActs: "caller",
    sentence:
      "The call is right but comes at the wrong time: the pool is archived, the booking over.",
  },
  TOO_LARGE: {
    http: 413,
    trpc: "PAYLOAD_TOO_LARGE",
    retryable: false,
    whoActs: "caller",
    sentence: "The body is over 1 MiB (8 MiB for fleet.putNodes): send less at once.",
  },
  RATE_LIMITED: {
    http: 429,
    trpc: "TOO_MANY_REQUESTS",
    retryable: true,
    whoActs: "caller",
    sentence:
      "Too many calls, or too many of yours that wait already; `Retry-After` says when to come back.",
  },
  UNAVAILABLE: {
    http: 503,
    trpc: "SERVICE_UNAVAILABLE",
    retryable: true,
    whoActs: "nobody",
    sentence:
      "The server cannot serve this now: its database is away, it is full, or it is stopping.",
  },
  INTERNAL: {
    http: 500,
    trpc: "INTERNAL_SERVER_ERROR",
    retryable: false,
    whoActs: "operator",
    sentence: "A bug on our side; quote `requestId`.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;
export const ERROR_CODES = Object.keys(errors) as readonly ErrorCode[];

const issue = z
  .object({
    path: list(z.union([text(LIMITS.nameLength, 0), amount()]), 32).describe(
      "Where: field names and list positions.",
    ),
    message: text(LIMITS.messageLength).describe("What is wrong with it."),
  })
  .meta({ id: "Issue", description: "What is wrong with one field." });

const conflictDetails = z
  .object({
    kind: z
      .enum(["key", "version", "overlap", "plan"])
      .describe("An idempotency key, a version, an overlap, or a plan that changed."),
    ids: list(text(), LIMITS.answer).nullable().describe("What it conflicts with, or null."),
    plan: z.unknown().describe("The plan as it is now, or null."),
  })
  .meta({ id: "ConflictDetails", description: "Details of CONFLICT." });

const noCapacityDetails = z
  .object({
    reason: reason.describe("Why it does not fit."),
    earliestStart: time
      .nullable()
      .describe("First instant at which it fits; null: none up to `searchedTo`."),
    searchedTo: time.describe("How far ahead was looked."),
    latestEnd: time.nullable().describe("From extend: the latest end that would fit; else null."),
  })
  .meta({ id: "NoCapacityDetails", description: "Details of NO_CAPACITY." });

const quotaExceededDetails = z
  .object({
    resource: resourceKey.describe("The row that is too small."),
    max: amount().nullable().describe("Its maximum."),
    peak: amount().nullable().describe("Most in use at once inside the window."),
    remaining: amount()
      .nullable()
      .describe("What is left; given only where the row is another tenant's."),
    requested: amount().describe("What the request would add."),
  })
  .meta({
    id: "QuotaExceededDetails",
    description:
      "Details of QUOTA_EXCEEDED. `max` and `peak` are null where the row is another tenant's.",
  });

/** The details that a code carries; a code that is not here has none. */
export const errorDetails = {
  CONFLICT: conflictDetails,
  NO_CAPACITY: noCapacityDetails,
  QUOTA_EXCEEDED: quotaExceededDetails,
} as const;
export type DetailedCode = keyof typeof errorDetails;
export type ErrorDetails<C extends ErrorCode> = C extends DetailedCode
  ? z.input<(typeof errorDetails)[C]>
  : null;

/** What every error says on every surface; absent parts are null. */
export const wireError = z
  .object({
    code: z
      .enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]])
      .meta({ id: "ErrorCode", description: "What went wrong, for programs." })
      .describe("What went wrong, for programs."),
    message: text(LIMITS.messageLength).describe("What went wrong, for people."),
    retryable: z.boolean().describe("The same call may succeed later."),
    requestId: text(128).describe("Quote it when you ask for help; also in `x-request-id`."),
    issues: list(issue, 1_000)
      .nullable()
      .describe("Of INVALID_INPUT: what is wrong, field by field."),
    details: z
      .union([noCapacityDetails, quotaExceededDetails, conflictDetails])
      .nullable()
      .describe("What more there is to say, by code."),
  })
  .meta({ id: "WireError", description: "An error: tRPC's `error.data.berth`." });
export type WireError = z.input<typeof wireError>;

const fault = z
  .object({
    pointer: text(LIMITS.pointerLength, 1).describe(
      "Where, as a JSON Pointer into the body, in the form of a URI fragment: `#/devices/0/count`.",
    ),
    path: text(LIMITS.pointerLength, 0).describe(
      "The same for people: `devices[0].count`; empty: the input as a whole.",
    ),
    detail: text(LIMITS.messageLength).describe("What is wrong with it."),
  })
  .meta({ id: "ProblemFault", description: "What is wrong with one field, as RFC 9457 has it." });

/** The same as `application/problem+json`. */
export const problem = z
  .object({
    type: text(512).describe(
      "Names the kind of error: the address of a page that says what it means and what to do. Relative to the server, " +
        "unless it was told its public address.",
    ),
    title: text().describe("The kind of error, for people: the same for every error of a type."),
    status: integer(400, 599).describe("The HTTP status."),
    detail: text(LIMITS.messageLength).describe(
      "What went wrong this time; the same as `message`.",
    ),
    instance: text(128).describe("Which error it is: the request's id, as in `requestId`."),
    errors: list(fault, 1_000)
      .nullable()
      .describe("Of INVALID_INPUT: the same as `issues`, as other servers' callers know it."),
    ...wireError.shape,
  })
  .meta({ id: "Problem", description: "An error as RFC 9457 has it, with Berth's own fields." });
