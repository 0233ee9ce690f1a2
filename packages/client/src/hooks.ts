/** What a program may be told of the client's work. Nothing here is sent anywhere. */
import type { Reservation } from "./api.gen.ts";
import type { BerthError } from "./errors.ts";

/** One try of one call, about to be sent. The same object comes back in the answer's `request`. */
export interface RequestInfo {
  /** `group.method`. */
  readonly method: string;
  /** 0 for the first try of the call. */
  readonly attempt: number;
  /** The key that is kept over the call's tries; null for a method that takes none. */
  readonly idempotencyKey: string | null;
  /**
   * Headers to send with it: a hook may add some, such as `traceparent`. Of reads that share a request the first one's
   * count.
   */
  readonly headers: Record<string, string>;
}

/** How one try ended. */
export interface ResponseInfo {
  /** The try. */
  readonly request: RequestInfo;
  /** `group.method`. */
  readonly method: string;
  /** 0 for the first try of the call. */
  readonly attempt: number;
  /** How long the try took, milliseconds. */
  readonly ms: number;
  /** The HTTP status; null when no server answered. Of reads that shared a request, the call's own. */
  readonly status: number | null;
  /** The request's id; null when no server answered. */
  readonly requestId: string | null;
  /** Why the try failed; null when it did not. */
  readonly error: BerthError | null;
}

/** A try that is about to be repeated. */
export interface RetryInfo {
  /** `group.method`. */
  readonly method: string;
  /** The number of the coming try, from 1. */
  readonly attempt: number;
  /** How long is waited before it, milliseconds. */
  readonly ms: number;
  /** The HTTP status of the try that failed; null when no server answered. */
  readonly status: number | null;
  /** The id of the request that failed; null when no server answered. */
  readonly requestId: string | null;
  /** Why it failed. */
  readonly error: BerthError;
}

/** A hold that could not be given back. Its lease ends it soon. */
export interface ReleaseFailedInfo {
  /** The reservation as last seen. */
  readonly reservation: Reservation;
  /** Why not. */
  readonly error: BerthError;
}

/** Functions to be called along the way. What they throw is passed on as a warning and breaks nothing. */
export interface Hooks {
  /** Before a try is sent. */
  readonly onRequest?: ((request: RequestInfo) => void) | undefined;
  /** After a try was answered or failed. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
  /** Before the pause that comes before another try; of a stream, before it is opened again. */
  readonly onRetry?: ((retry: RetryInfo) => void) | undefined;
  /** When a hold that is left could not be released. */
  readonly onReleaseFailed?: ((failed: ReleaseFailedInfo) => void) | undefined;
}

/** Tells everybody who wants to know. */
export interface Teller {
  request(info: RequestInfo): void;
  response(info: ResponseInfo): void;
  retry(info: RetryInfo): void;
  releaseFailed(info: ReleaseFailedInfo): void;
}

/** @param warn is told of the first hook that throws */
export function createTeller(
  given: Hooks | readonly Hooks[] | undefined,
  warn: (message: string) => void,
): Teller {
  const all = given === undefined ? [] : [given].flat();
  const tell = <T>(name: keyof Hooks, pick: (hooks: Hooks) => ((info: T) => void) | undefined) => {
    return (info: T): void => {
      for (const hooks of all) {
        try {
          pick(hooks)?.(info);
        } catch (thrown) {
          warn(
            `the hook ${name} threw: ${thrown instanceof Error ? thrown.message : typeof thrown}`,
          );
        }
      }
    };
  };
  return {
    request: tell<RequestInfo>("onRequest", (hooks) => hooks.onRequest),
    response: tell<ResponseInfo>("onResponse", (hooks) => hooks.onResponse),
    retry: tell<RetryInfo>("onRetry", (hooks) => hooks.onRetry),
    releaseFailed: tell<ReleaseFailedInfo>("onReleaseFailed", (hooks) => hooks.onReleaseFailed),
  };
}
