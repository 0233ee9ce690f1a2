/**
 * A stream of events over any number of connections: what breaks is opened again with the id of the last event
 * that was handed out, so the loop over it sees each once and in order. It ends with an error that another
 * connection would meet as well, or by its caller.
 */
import { readAnswer } from "./answer.ts";
import type { Event } from "./api.gen.ts";
import { backoff, sleep } from "./backoff.ts";
import { asBerthError } from "./errors.ts";
import type { BerthError } from "./errors.ts";
import { failureOf } from "./failure.ts";
import { Refused, SILENCE_MS, frames, understood } from "./frames.ts";
import type { Reader } from "./frames.ts";
import type { RequestInfo } from "./hooks.ts";
import { untilAborted } from "./limit.ts";
import type { Session } from "./session.ts";
import { Unreached, unreached, wireOf } from "./wire.ts";

/** What another connection may not meet. */
const PASSING: ReadonlySet<string> = new Set(["NETWORK", "RATE_LIMITED", "UNAVAILABLE"]);

export interface Watch {
  /** `group.method`. */
  readonly path: string;
  readonly input: object;
  readonly signal: AbortSignal | undefined;
}

/** How far the stream has come, over all its connections. */
interface Progress {
  lastEventId: string | undefined;
  /** Connections so far. */
  opened: number;
  /** Connections in a row that brought nothing. */
  failures: number;
}

/** Yields events until its caller leaves. Throws a `BerthError`, or the reason of the caller's signal. */
export async function* watchEvents(
  session: Session,
  watch: Watch,
): AsyncGenerator<Event, void, undefined> {
  const signal = watch.signal ?? new AbortController().signal;
  const progress: Progress = { lastEventId: undefined, opened: 0, failures: 0 };
  for (;;) {
    signal.throwIfAborted();
    let ending: Ending = { error: brokenOff(), waitMs: 0 };
    const before = progress.lastEventId;
    try {
      yield* connection(session, watch, progress);
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = failureOf(thrown, null);
      if (!failure) throw thrown;
      const { error, retryAfterMs = 0 } = failure;
      if (!isPassing(error.code, session, progress.lastEventId !== before)) throw error;
      ending = { error, waitMs: retryAfterMs };
    }
    const ms = Math.max(ending.waitMs, backoff(progress.failures));
    const { status, requestId } = ending.error;
    const { opened: attempt } = progress;
    session.tell.retry({ method: watch.path, attempt, ms, status, requestId, error: ending.error });
    await sleep(ms, signal);
    progress.failures += 1;
  }
}

/** How a connection ended. */
interface Ending {
  readonly error: BerthError;
  readonly waitMs: number;
}

function brokenOff(): BerthError {
  const { error } = failureOf(new Unreached("the server ended the stream"), null) ?? {};
  return error ?? asBerthError(undefined);
}

/** A token that ran out while the stream was open is followed by the next one. */
function isPassing(code: string, { hasTokenFunction }: Session, wasOpen: boolean): boolean {
  if (code === "UNAUTHENTICATED") return wasOpen && hasTokenFunction;
  return PASSING.has(code);
}

/** The events of one connection, until it ends. */
async function* connection(
  session: Session,
  watch: Watch,
  progress: Progress,
): AsyncGenerator<Event, void, undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = (): void => controller.abort(watch.signal?.reason);
  watch.signal?.addEventListener("abort", onAbort);
  try {
    const reader = await opened(session, { ...watch, signal }, progress);
    for await (const { id, data } of frames(reader, controller)) {
      progress.lastEventId = id;
      progress.failures = 0;
      const event = understood(() => readAnswer(JSON.parse(data))) as Event | null | undefined;
      if (event) yield event;
    }
  } finally {
    watch.signal?.removeEventListener("abort", onAbort);
    controller.abort();
  }
}

/** Opens one connection and tells of it. */
async function opened(session: Session, watch: Watch, progress: Progress): Promise<Reader> {
  const { path: method } = watch;
  const { opened: attempt, lastEventId } = progress;
  progress.opened += 1;
  const request: RequestInfo = { method, attempt, idempotencyKey: null, headers: {} };
  const since = performance.now();
  const ended = (
    status: number | null,
    requestId: string | null,
    error: BerthError | null,
  ): void => {
    const ms = performance.now() - since;
    session.tell.response({ request, method, attempt, ms, status, requestId, error });
  };
  session.tell.request(request);
  try {
    const { reader, response } = await open(session, watch, { request, lastEventId });
    ended(response.status, response.headers.get("x-request-id"), null);
    return reader;
  } catch (thrown) {
    const error = failureOf(thrown, null)?.error ?? asBerthError(thrown);
    ended(error.status, error.requestId, error);
    throw thrown;
  }
}

async function open(
  session: Session,
  { path, input, signal }: Watch,
  {
    request,
    lastEventId,
  }: { readonly request: RequestInfo; readonly lastEventId: string | undefined },
): Promise<{ readonly reader: Reader; readonly response: Response }> {
  const url = `${session.address}/trpc/${path}`;
  const headers = await session.headers({
    ...request.headers,
    ...(request.attempt > 0 ? { "berth-retry-count": String(request.attempt) } : {}),
    accept: "text/event-stream",
    "content-type": "application/json",
  });
  const json = lastEventId === undefined ? input : { ...input, lastEventId };
  const init: RequestInit = { method: "POST", headers, body: JSON.stringify({ json }) };
  if (signal) init.signal = signal;
  const response = await inTime(session.fetch(url, init), url);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream && response.body) return { reader: response.body.getReader(), response };
  const body = await inTime(response.text(), url);
  throw refusal(wireOf(response, body), response);
}

/** @throws Unreached also when nothing comes for too long */
async function inTime<T>(promise: Promise<T>, url: string): Promise<T> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("the server said nothing")), SILENCE_MS);
  try {
    return await untilAborted(promise, silence.signal);
  } catch (cause) {
    throw unreached(url, cause);
  } finally {
    clearTimeout(timer);
  }
}

function refusal(body: object, response: Response): Refused {
  const { error } = body as { error?: { json?: { data?: unknown } } };
  return new Refused(error?.json?.data, { response, responseJSON: body });
}
