/** Expected refusals are values. Codes and details are the API's registry; nothing here is thrown. */

/** The filters of the placer, in order: a node's cause is the first after which the request no longer fits it. */
export const NODE_CAUSES = [
  "NODE_STATE",
  "MAINTENANCE",
  "UNHEALTHY",
  "WITHHELD",
  "SELECTOR",
  "CLASS",
  "COUNT",
  "BUSY",
  "NVLINK",
  "SCALAR",
  "TOPOLOGY_KEY",
] as const;
export const POOL_CAUSES = ["EMPTY_POOL", "GANG"] as const;
export type Cause = (typeof NODE_CAUSES)[number] | (typeof POOL_CAUSES)[number];

/**
 * Why a request does not fit. The `nodes` of `blocked` add up to the pool's node count; for an extension,
 * which stays where it is, to how many of the booking's own nodes are in the way.
 */
export interface Reason {
  readonly code: Cause;
  /** One sentence a person can act on; never another tenant. */
  readonly message: string;
  readonly blocked: readonly { readonly cause: Cause; readonly nodes: number }[];
}

export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type Refusal =
  | { readonly code: "INVALID_INPUT"; readonly issues: readonly InputIssue[] }
  | { readonly code: "NOT_FOUND" }
  | { readonly code: "FORBIDDEN"; readonly message: string }
  | {
      readonly code: "CONFLICT";
      readonly kind: "key" | "version" | "overlap" | "plan";
      readonly message: string;
      readonly ids?: readonly string[];
      /** Of kind `plan`: what it would do as things are now. */
      readonly plan?: Readonly<Record<string, readonly string[] | null>>;
    }
  | {
      readonly code: "NO_CAPACITY";
      readonly reason: Reason;
      /** First instant within the horizon at which the same request fits; null when none up to `searchedTo`. */
      readonly earliestStart: number | null;
      readonly searchedTo: number;
      /** Only from extend: the latest end that would fit. */
      readonly latestEnd?: number;
    }
  | {
      readonly code: "QUOTA_EXCEEDED";
      readonly resource: string;
      /** Null for a descendant, who sees only what remains. */
      readonly max: number | null;
      readonly peak: number | null;
      readonly remaining: number | null;
      readonly requested: number;
    }
  | { readonly code: "INVALID_STATE"; readonly message: string }
  | { readonly code: "RATE_LIMITED"; readonly message: string };

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(refusal: Refusal): Result<never> {
  return { ok: false, refusal };
}

/** A refused input field. */
export function invalid(path: readonly (string | number)[], message: string): Result<never> {
  return refuse({ code: "INVALID_INPUT", issues: [{ path, message }] });
}

/** Fails loudly when the program itself is wrong; the text goes to the log, never to a caller. */
export function invariant(condition: unknown, text: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${text}`);
}
