/** The one error that calls reject with, and how to tell it apart. */
import type { ErrorCode, ErrorDetails, Issue, Reason } from "./api.gen.ts";

/**
 * The server's codes, and the client's own:
 *
 * - `NETWORK`: the server was not reached, or what answered in its place was a gateway's failure.
 * - `TIMEOUT`: `timeoutMs` is over. Whether the server did what was asked is not known.
 * - `BAD_ANSWER`: what answered is not a Berth server; look at the URL.
 */
export type BerthErrorCode = ErrorCode | "NETWORK" | "TIMEOUT" | "BAD_ANSWER";

/** The details that come with a code; null where none do. */
export type DetailsOf<C extends BerthErrorCode> = C extends keyof ErrorDetails
  ? ErrorDetails[C]
  : null;

/** What a `BerthError` is made of. */
export interface BerthErrorParts<C extends BerthErrorCode> {
  readonly code: C;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId: string | null;
  readonly issues: readonly Issue[] | null;
  readonly details: DetailsOf<C>;
  readonly cause?: unknown;
}

// Shared over realms and over copies of this package, unlike a class.
const BRAND = Symbol.for("@berth/client.BerthError");

/** Why a call failed. Recognise it with `isBerthError`, not with `instanceof`. */
export class BerthError<C extends BerthErrorCode = BerthErrorCode> extends Error {
  /** What went wrong, for programs. */
  readonly code: C;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** Quote it when you ask for help; null when no server answered. */
  readonly requestId: string | null;
  /** Of INVALID_INPUT: what is wrong, field by field; else null. */
  readonly issues: readonly Issue[] | null;
  /** What more there is to say, by code; else null. */
  readonly details: DetailsOf<C>;

  constructor(parts: BerthErrorParts<C>) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = "BerthError";
    this.code = parts.code;
    this.retryable = parts.retryable;
    this.requestId = parts.requestId;
    this.issues = parts.issues;
    this.details = parts.details;
    Object.defineProperty(this, BRAND, { value: true });
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
  get reason(): Reason | null {
    if (!isBerthError(this, "NO_CAPACITY")) return null;
    // What answers in a server's place need not know what belongs to its code.
    return (this.details as { readonly reason?: Reason } | null)?.reason ?? null;
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
