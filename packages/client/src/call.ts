/**
 * One call: a key where one is due, a time limit over everything, and more tries where another try cannot do the
 * work twice.
 */
import { sleep, waitBefore } from "./backoff.ts";
import { asBerthError, own } from "./errors.ts";
import type { BerthError } from "./errors.ts";
import { failureOf } from "./failure.ts";
import type { RequestInfo } from "./hooks.ts";
import { startLimit } from "./limit.ts";
import type { MethodTraits } from "./methods.gen.ts";
import type { CallOptions } from "./options.ts";
import type { WithResponse } from "./promise.ts";
import type { Session } from "./session.ts";
import type { Send, Try } from "./transport.ts";

const TIMEOUT_MS = 60_000;
const RETRIES = 3;

/** Mutations without a key that come to the same however often they are made. */
const CONVERGING: ReadonlySet<string> = new Set(["reservations.renew", "reservations.release"]);

/** What another try may not meet; no 409 is among them, however it is worded. */
const TRANSIENT: ReadonlySet<string> = new Set(["NETWORK", "RATE_LIMITED", "UNAVAILABLE"]);

/** A method of the API that is called. */
export interface Method extends MethodTraits {
  readonly kind: "read" | "mutation";
  /** `group.method`. */
  readonly name: string;
}

/** Calls a method. Rejects with a `BerthError`, or with the reason of the caller's own signal. */
export type Call = (
  method: Method,
  input: object,
  options?: CallOptions,
) => Promise<WithResponse<unknown>>;

export function createCall(session: Session, send: Send): Call {
  const { options: defaults, tell } = session;
  return async (method, input, options = {}) => {
    const { keyed, key } = withKey(method, input, options);
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs ?? TIMEOUT_MS;
    const most = options.maxRetries ?? defaults.maxRetries ?? RETRIES;
    const retries = isRepeatable(method, keyed) ? most : 0;
    const late = (): BerthError =>
      own("TIMEOUT", `${method.name} took longer than ${timeoutMs} ms`, {
        retryable: true,
        idempotencyKey: key,
      });
    const limit = startLimit(timeoutMs, options.signal, late);
    const { signal } = limit;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const request: RequestInfo = {
          method: method.name,
          attempt,
          idempotencyKey: key,
          headers: {},
        };
        const outcome = await told(session, request, () =>
          limit.race(attemptOnce(send, { kind: method.kind, input: keyed, signal, request })),
        );
        if ("answer" in outcome) return outcome.answer;
        const { error, retryAfterMs } = outcome;
        const ms = waitBefore(attempt, retryAfterMs);
        const isWorthIt =
          TRANSIENT.has(error.code) && attempt < retries && ms < limit.remainingMs();
        if (!isWorthIt) throw error;
        const { status, requestId } = error;
        const next = attempt + 1;
        tell.retry({ method: method.name, attempt: next, ms, status, requestId, error });
        await limit.race(sleep(ms, signal));
      }
    } finally {
      limit.end();
    }
  };
}

type Outcome =
  | { readonly answer: WithResponse<unknown> }
  | { readonly error: BerthError; readonly retryAfterMs: number | undefined };

/** Tells of a try and of its end. */
async function told(
  { tell }: Session,
  request: RequestInfo,
  attempt: () => Promise<Outcome>,
): Promise<Outcome> {
  const since = performance.now();
  const ended = (outcome: Outcome | { readonly error: BerthError }): void => {
    const error = "error" in outcome ? outcome.error : null;
    const { status, requestId } = "answer" in outcome ? outcome.answer : outcome.error;
    const ms = performance.now() - since;
    tell.response({
      request,
      method: request.method,
      attempt: request.attempt,
      ms,
      status,
      requestId,
      error,
    });
  };
  tell.request(request);
  try {
    const outcome = await attempt();
    ended(outcome);
    return outcome;
  } catch (thrown) {
    ended({ error: asBerthError(thrown) });
    throw thrown;
  }
}

async function attemptOnce(send: Send, attempt: Try): Promise<Outcome> {
  try {
    return { answer: await send(attempt) };
  } catch (thrown) {
    const failure = failureOf(thrown, attempt.request.idempotencyKey);
    if (failure) return failure;
    // Not the server's doing: a token function that threw, an input that is no JSON.
    throw (thrown as { cause?: unknown }).cause ?? thrown;
  }
}

/** The input with its idempotency key; one for the whole call, so that a retry is the same request. */
function withKey(
  method: Method,
  input: object,
  options: CallOptions,
): { readonly keyed: object; readonly key: string | null } {
  const given = "idempotencyKey" in input ? input.idempotencyKey : undefined;
  if (given !== undefined) return { keyed: input, key: typeof given === "string" ? given : null };
  if (!method.keyed) return { keyed: input, key: null };
  const key = options.idempotencyKey ?? freshKey();
  return { keyed: { ...input, idempotencyKey: key }, key };
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
