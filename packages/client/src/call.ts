/**
 * One call: a key where one is due, a time limit over everything, and more tries where another try cannot do the
 * work twice.
 */
import type { BerthError } from "./errors.ts";
import { failureOf, own } from "./failure.ts";
import type { MethodTraits } from "./methods.gen.ts";
import type { BerthOptions, CallOptions } from "./options.ts";
import type { Send } from "./transport.ts";

const TIMEOUT_MS = 60_000;
const RETRIES = 3;
const WAIT_FIRST_MS = 200;
const TIMER_MAX_MS = 2 ** 31 - 1;
const WAIT_MAX_MS = 10_000;

/** Mutations without a key that come to the same however often they are made. */
const CONVERGING: ReadonlySet<string> = new Set(["reservations.renew", "reservations.release"]);

const TRANSIENT: ReadonlySet<string> = new Set(["NETWORK", "RATE_LIMITED", "UNAVAILABLE"]);

/** A method of the API that is called. */
export interface Method extends MethodTraits {
  readonly kind: "read" | "mutation";
  /** `group.method`. */
  readonly name: string;
}

/** Calls a method. Rejects with a `BerthError`, or with the reason of the caller's own signal. */
export type Call = (method: Method, input: object, options?: CallOptions) => Promise<unknown>;

export function createCall(send: Send, defaults: BerthOptions): Call {
  return async (method, input, options = {}) => {
    const keyed = withKey(method, input, options);
    const retries = isRepeatable(method, keyed) ? (defaults.retries ?? RETRIES) : 0;
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs ?? TIMEOUT_MS;
    const limit = startLimit(method, timeoutMs, options.signal);
    try {
      for (let attempt = 0; ; attempt += 1) {
        const failure = await limit.race(
          attemptOnce(send, method, { input: keyed, signal: limit.signal }),
        );
        if ("answer" in failure) return failure.answer;
        const { error, retryAfterMs } = failure;
        const waitMs = Math.max(retryAfterMs ?? 0, backoff(attempt));
        const isWorthIt =
          TRANSIENT.has(error.code) && attempt < retries && waitMs < limit.remainingMs();
        if (!isWorthIt) throw error;
        await limit.race(sleep(waitMs, limit.signal));
      }
    } finally {
      limit.end();
    }
  };
}

type Attempt =
  | { readonly answer: unknown }
  | { readonly error: BerthError; readonly retryAfterMs: number | undefined };

async function attemptOnce(
  send: Send,
  method: Method,
  call: { readonly input: unknown; readonly signal: AbortSignal },
): Promise<Attempt> {
  try {
    return { answer: await send(method.name, method.kind, call) };
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (failure) return failure;
    // Not the server's doing: a token function that threw, an input that is no JSON.
    throw (thrown as { cause?: unknown }).cause ?? thrown;
  }
}

/** The input with its idempotency key; one for the whole call, so that a retry is the same request. */
function withKey(method: Method, input: object, options: CallOptions): object {
  if (!method.keyed || ("idempotencyKey" in input && input.idempotencyKey !== undefined))
    return input;
  return { ...input, idempotencyKey: options.idempotencyKey ?? freshKey() };
}

function isRepeatable(method: Method, input: object): boolean {
  if (method.kind === "read" || method.keyed) return true;
  // With a version the second try would find the first one's work and call it a conflict.
  const isVersioned = "version" in input && input.version !== undefined;
  return CONVERGING.has(method.name) && !isVersioned;
}

/** 128 random bits, in an alphabet that every key pattern takes. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Doubles from 200 ms to 10 s, less up to half by chance, so that clients do not come back in step. */
export function backoff(attempt: number): number {
  const full = Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** attempt);
  return full * (1 - Math.random() / 2);
}

/** Resolves after the time, or when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

interface Limit {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** The promise, unless the time is over or the caller aborts first. */
  race<T>(promise: Promise<T>): Promise<T>;
  end(): void;
}

/** What ends a call from outside: its time limit and the caller's signal. */
function startLimit(method: Method, timeoutMs: number, outer: AbortSignal | undefined): Limit {
  if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs must be more than 0, not ${timeoutMs}`);
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  const onAbort = (): void => controller.abort(outer?.reason);
  const expire = (): void => {
    const message = `${method.name} took longer than ${timeoutMs} ms`;
    controller.abort(own("TIMEOUT", message, { retryable: true }));
  };
  // A timer longer than 2^31 - 1 ms would fire at once; nobody waits for one that is 24 days away.
  const timer = timeoutMs > TIMER_MAX_MS ? undefined : setTimeout(expire, timeoutMs);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort);
  const { signal } = controller;
  return {
    signal,
    remainingMs: () => endsAt - performance.now(),
    race: (promise) =>
      new Promise((resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop);
        promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
      }),
    end: () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
