/** The one error that calls reject with, and how to tell it apart. */
import type {
  ErrorCode,
  ErrorDetails,
  Issue,
  Reason,
  Reservation,
  ReservationState,
} from "./api.gen.ts";

/**
 * The server's codes, and the client's own:
 *
 * - `NETWORK`: the server was not reached, or what answered in its place was a gateway's failure.
 * - `TIMEOUT`: `timeoutMs` is over. Whether the server did what was asked is not known.
 * - `BAD_ANSWER`: what answered is not a Berth server; look at the URL.
 * - `ABORTED`: of `safe()`: the call was given up on this side, by its signal or by code of yours such as a token
 *   function; `cause` is what was thrown. Without `safe()` the call rejects with that itself.
 * - `HOLD_LOST`: what was held is not held any more; `details` say why.
 */
export type BerthErrorCode =
  | ErrorCode
  | "NETWORK"
  | "TIMEOUT"
  | "BAD_ANSWER"
  | "ABORTED"
  | "HOLD_LOST";

/** Why a hold is no more. */
export interface HoldLoss {
  /**
   * The state that the reservation ended in; `unreachable`: the lease ran out before the server could be reached;
   * `refused`: the server would not renew it, see `cause`.
   */
  readonly reason:
    | Exclude<ReservationState, "scheduled" | "active" | "preempting">
    | "unreachable"
    | "refused";
  /** The reservation as last seen. */
  readonly reservation: Reservation;
}

/** When to come back. */
export interface RateLimitDetails {
  /** So many milliseconds after the answer came, as its `Retry-After` says; null where it does not. */
  readonly retryAfterMs: number | null;
}

/** The details that come with a code; null where none do. */
export type DetailsOf<C extends BerthErrorCode> = C extends keyof ErrorDetails
  ? ErrorDetails[C]
  : C extends "RATE_LIMITED"
    ? RateLimitDetails
    : C extends "HOLD_LOST"
      ? HoldLoss
      : null;

/** Why it does not fit, for the code that says so. */
export type ReasonOf<C extends BerthErrorCode> = C extends "NO_CAPACITY" ? Reason : null;

/** What a `BerthError` is made of. */
export interface BerthErrorParts<C extends BerthErrorCode> {
  /** What went wrong, for programs. */
  readonly code: C;
  /** The same for people, in one sentence. */
  readonly message: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status; absent or null when no server answered. */
  readonly status?: number | null;
  /** The request's id, or null. */
  readonly requestId: string | null;
  /** The key that the call had; absent or null: none. */
  readonly idempotencyKey?: string | null;
  /** Of INVALID_INPUT: what is wrong, field by field; else null. */
  readonly issues: readonly Issue[] | null;
  /** What more there is to say, by code; else null. */
  readonly details: DetailsOf<C>;
  /** What lies behind it. */
  readonly cause?: unknown;
}

/** An error as plain data: for logs, and over threads. It holds no token and no header. */
export interface BerthErrorJson<C extends BerthErrorCode = BerthErrorCode> {
  /** Always `BerthError`. */
  readonly name: string;
  /** As in the error. */
  readonly code: C;
  /** As in the error. */
  readonly message: string;
  /** As in the error. */
  readonly retryable: boolean;
  /** As in the error. */
  readonly status: number | null;
  /** As in the error. */
  readonly requestId: string | null;
  /** As in the error. */
  readonly idempotencyKey: string | null;
  /** As in the error. */
  readonly issues: readonly Issue[] | null;
  /** As in the error. */
  readonly details: DetailsOf<C>;
}

// Shared over realms and over copies of this package, unlike a class.
const BRAND = Symbol.for("@berth/client.BerthError");

/** Why a call failed. Recognise it with `isBerthError`; `instanceof` holds over copies of the package as well. */
export class BerthError<C extends BerthErrorCode = BerthErrorCode> extends Error {
  /** What went wrong, for programs. */
  readonly code: C;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status; null when no server answered. Of reads that shared a request, the call's own. */
  readonly status: number | null;
  /** Quote it when you ask for help; null when no server answered. */
  readonly requestId: string | null;
  /**
   * The key that the call had, also when the client made it: call again with it, in another process if need be, and
   * nothing is done twice. Null for a method that takes none.
   */
  readonly idempotencyKey: string | null;
  /** Of INVALID_INPUT: what is wrong, field by field; else null. */
  readonly issues: readonly Issue[] | null;
  /** What more there is to say, by code; else null. */
  readonly details: DetailsOf<C>;

  constructor(parts: BerthErrorParts<C>) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = "BerthError";
    this.code = parts.code;
    this.retryable = parts.retryable;
    this.status = parts.status ?? null;
    this.requestId = parts.requestId;
    this.idempotencyKey = parts.idempotencyKey ?? null;
    this.issues = parts.issues;
    this.details = parts.details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Any `BerthError`, of whichever copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === BerthError) return isBerthError(value);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }

  /** Of INVALID_INPUT: the first field that is wrong, such as `devices[0].count`; else null. */
  get field(): string | null {
    const path = this.issues?.[0]?.path;
    if (!path) return null;
    return path.reduce<string>((text, part) => {
      if (typeof part === "number") return `${text}[${part}]`;
      return text ? `${text}.${part}` : part;
    }, "");
  }

  /** Of NO_CAPACITY: why it does not fit; else null. */
  get reason(): ReasonOf<C> {
    if (this.code !== "NO_CAPACITY") return null as ReasonOf<C>;
    const told = (this.details as { readonly reason?: Reason | null } | null)?.reason;
    // What answers in a server's place need not know what belongs to its code.
    const reason: Reason = told ?? { code: "UNKNOWN", message: this.message, blocked: [] };
    return reason as ReasonOf<C>;
  }

  /** Of NO_CAPACITY: when it would fit, milliseconds since the epoch, as far as was searched; else null. */
  get earliestStart(): number | null {
    if (this.code !== "NO_CAPACITY") return null;
    return (
      (this.details as { readonly earliestStart?: number | null } | null)?.earliestStart ?? null
    );
  }

  /** What `JSON.stringify` writes: no cause, no stack, no token. */
  toJSON(): BerthErrorJson<C> {
    const { name, code, message, retryable, status, requestId, idempotencyKey, issues, details } =
      this;
    return { name, code, message, retryable, status, requestId, idempotencyKey, issues, details };
  }
}

/**
 * Whether this is a `BerthError`, and with a code whether it is that one: then `details` is typed by it. Holds across
 * realms and when the package is installed twice.
 */
export function isBerthError<C extends BerthErrorCode = BerthErrorCode>(
  error: unknown,
  code?: C,
): error is BerthError<C> {
  if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as { code?: unknown }).code === code;
}

/** An error of the client's own, without details. */
export function own<C extends "NETWORK" | "TIMEOUT" | "BAD_ANSWER" | "ABORTED">(
  code: C,
  message: string,
  more: Partial<Pick<BerthErrorParts<C>, "retryable" | "status" | "idempotencyKey" | "cause">>,
): BerthError {
  return new BerthError<BerthErrorCode>({
    code,
    message,
    retryable: false,
    requestId: null,
    issues: null,
    details: null,
    ...more,
  });
}

/** What was thrown, as an error of ours: what is none is the doing of this side. */
export function asBerthError(thrown: unknown): BerthError {
  if (isBerthError(thrown)) return thrown;
  const said =
    thrown instanceof Error ? thrown.message : "its signal was aborted, or code of yours threw";
  return own("ABORTED", `the call was given up: ${said}`, { cause: thrown });
}
