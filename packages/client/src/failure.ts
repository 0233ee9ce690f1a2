/** What a request that failed comes to: a `BerthError`, and how long the server asks to wait. */
import type { ErrorCode, Issue } from "./api.gen.ts";
import { BerthError } from "./errors.ts";
import type { BerthErrorCode, DetailsOf } from "./errors.ts";
import { ForeignAnswer, Unreached } from "./transport.ts";

export interface Failure {
  readonly error: BerthError;
  /** How long the server asks to wait, milliseconds; undefined when it does not say. */
  readonly retryAfterMs: number | undefined;
}

/** The server's word on an error, on either of its surfaces. */
interface Told {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId?: string | null;
  readonly issues?: readonly Issue[] | null;
  readonly details?: unknown;
}

/** @returns undefined when it is no failure of a request but of the caller's own code, such as its token function. */
export function failureOf(thrown: unknown): Failure | undefined {
  const wrapped = (thrown ?? {}) as {
    cause?: unknown;
    data?: { berth?: unknown };
    meta?: { response?: { headers?: Headers; status?: number }; responseJSON?: unknown };
  };
  const { data, meta } = wrapped;
  // tRPC wraps what it met; a stream is read without it.
  const isBare = thrown instanceof Unreached || thrown instanceof ForeignAnswer;
  const cause = isBare ? thrown : wrapped.cause;
  if (cause instanceof Unreached) {
    return {
      error: own("NETWORK", cause.message, { retryable: true, cause: cause.cause }),
      retryAfterMs: undefined,
    };
  }
  if (cause instanceof ForeignAnswer) return foreign(cause);
  const headers = meta?.response?.headers;
  const told = [data?.berth, meta?.responseJSON].find(isTold);
  if (told) {
    return {
      error: fromServer(told, headers?.get("x-request-id")),
      retryAfterMs: retryAfter(headers),
    };
  }
  if (!headers) return undefined;
  const status = meta.response?.status;
  const message = `the server answered HTTP ${String(status)} in a form that this client does not know`;
  return {
    error: own("BAD_ANSWER", message, { retryable: false, cause: thrown }),
    retryAfterMs: undefined,
  };
}

/** An error of the client's own. */
export function own<C extends "NETWORK" | "TIMEOUT" | "BAD_ANSWER">(
  code: C,
  message: string,
  more: { readonly retryable: boolean; readonly cause?: unknown },
): BerthError {
  return new BerthError<BerthErrorCode>({
    code,
    message,
    requestId: null,
    issues: null,
    details: null,
    ...more,
  });
}

function foreign(answer: ForeignAnswer): Failure {
  const { status, headers, message } = answer;
  const retryAfterMs = retryAfter(headers);
  const more = { retryable: true, cause: answer };
  // A balancer that has no server to ask answers for it.
  if (status === 502 || status === 504)
    return { error: own("NETWORK", message, more), retryAfterMs };
  if (status === 429 || status === 503) {
    const code = status === 429 ? "RATE_LIMITED" : "UNAVAILABLE";
    const told = { code, message, retryable: true } as const;
    return { error: fromServer(told, headers.get("x-request-id")), retryAfterMs };
  }
  return {
    error: own(
      "BAD_ANSWER",
      answer.elsewhere ? message : `${message}: is the URL that of a Berth server?`,
      {
        retryable: false,
        cause: answer,
      },
    ),
    retryAfterMs,
  };
}

function isTold(value: unknown): value is Told {
  if (typeof value !== "object" || value === null) return false;
  const { code, message, retryable } = value as Partial<Record<keyof Told, unknown>>;
  return typeof code === "string" && typeof message === "string" && typeof retryable === "boolean";
}

function fromServer(told: Told, requestId: string | null | undefined): BerthError {
  return new BerthError<BerthErrorCode>({
    code: told.code,
    message: told.message,
    retryable: told.retryable,
    requestId: typeof told.requestId === "string" ? told.requestId : (requestId ?? null),
    issues: issuesOf(told.issues),
    // The server's details are of its code; a type that spans all codes cannot say so.
    details: (told.details ?? null) as DetailsOf<BerthErrorCode>,
  });
}

/** Only what has the form of issues: the fields of an error are read without another look. */
function issuesOf(told: unknown): readonly Issue[] | null {
  if (!Array.isArray(told)) return null;
  return told.filter(
    (issue: Partial<Issue> | null): issue is Issue =>
      Array.isArray(issue?.path) && typeof issue.message === "string",
  );
}

/** `Retry-After`: seconds, or a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const value = headers?.get("retry-after");
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
