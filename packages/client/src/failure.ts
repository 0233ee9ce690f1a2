/** What a request that failed comes to: a `BerthError`, and how long the server asks to wait. */
import type { ErrorCode, Issue } from "./api.gen.ts";
import { BerthError, own } from "./errors.ts";
import type { BerthErrorCode, DetailsOf } from "./errors.ts";
import { ForeignAnswer, Unreached } from "./wire.ts";

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

/** What failed, as tRPC wraps it and as a stream is refused. */
interface Wrapped {
  readonly cause?: unknown;
  readonly data?: { readonly berth?: unknown; readonly httpStatus?: unknown };
  readonly meta?: {
    readonly response?: { readonly headers?: Headers; readonly status?: number };
    readonly responseJSON?: unknown;
  };
}

/**
 * @param idempotencyKey the key that the call had, or null
 * @returns undefined when it is no failure of a request but of the caller's own code, such as its token function.
 */
export function failureOf(thrown: unknown, idempotencyKey: string | null): Failure | undefined {
  const wrapped = (thrown ?? {}) as Wrapped;
  const { data, meta } = wrapped;
  // tRPC wraps what it met; a stream is read without it.
  const isBare = thrown instanceof Unreached || thrown instanceof ForeignAnswer;
  const cause = isBare ? thrown : wrapped.cause;
  if (cause instanceof Unreached) {
    const more = { retryable: true, idempotencyKey, cause: cause.cause };
    return { error: own("NETWORK", cause.message, more), retryAfterMs: undefined };
  }
  if (cause instanceof ForeignAnswer) return foreign(cause, idempotencyKey);
  const { headers, status = null } = meta?.response ?? {};
  const told = [data?.berth, meta?.responseJSON].find(isTold);
  if (told) {
    const own = typeof data?.httpStatus === "number" ? data.httpStatus : status;
    const requestId = headers?.get("x-request-id");
    const retryAfterMs = retryAfter(headers);
    const more = { status: own, requestId, idempotencyKey, retryAfterMs };
    return { error: fromServer(told, more), retryAfterMs };
  }
  if (!headers) return undefined;
  const message = `the server answered HTTP ${String(status)} in a form that this client does not know`;
  return {
    error: own("BAD_ANSWER", message, { status, idempotencyKey, cause: thrown }),
    retryAfterMs: undefined,
  };
}

function foreign(answer: ForeignAnswer, idempotencyKey: string | null): Failure {
  const { status, headers, message } = answer;
  const retryAfterMs = retryAfter(headers);
  const more = { status, idempotencyKey, cause: answer };
  // A balancer that has no server to ask answers for it.
  if (status === 502 || status === 504)
    return { error: own("NETWORK", message, { ...more, retryable: true }), retryAfterMs };
  if (status === 429 || status === 503) {
    const code = status === 429 ? "RATE_LIMITED" : "UNAVAILABLE";
    const told = { code, message, retryable: true } as const;
    const requestId = headers.get("x-request-id");
    const given = { status, requestId, idempotencyKey, retryAfterMs };
    return { error: fromServer(told, given), retryAfterMs };
  }
  const said = answer.elsewhere ? message : `${message}: is the URL that of a Berth server?`;
  return { error: own("BAD_ANSWER", said, more), retryAfterMs };
}

function isTold(value: unknown): value is Told {
  if (typeof value !== "object" || value === null) return false;
  const { code, message, retryable } = value as Partial<Record<keyof Told, unknown>>;
  return typeof code === "string" && typeof message === "string" && typeof retryable === "boolean";
}

function fromServer(
  told: Told,
  {
    retryAfterMs,
    ...more
  }: {
    readonly status: number | null;
    readonly requestId: string | null | undefined;
    readonly idempotencyKey: string | null;
    readonly retryAfterMs: number | undefined;
  },
): BerthError {
  // What the server says in a header belongs with what it says in the body.
  const details =
    told.code === "RATE_LIMITED"
      ? { retryAfterMs: retryAfterMs ?? null, ...(told.details as object | null) }
      : (told.details ?? null);
  return new BerthError<BerthErrorCode>({
    ...more,
    code: told.code,
    message: told.message,
    retryable: told.retryable,
    requestId: typeof told.requestId === "string" ? told.requestId : (more.requestId ?? null),
    issues: issuesOf(told.issues),
    // The server's details are of its code; a type that spans all codes cannot say so.
    details: details as DetailsOf<BerthErrorCode>,
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
