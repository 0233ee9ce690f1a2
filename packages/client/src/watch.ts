/**
 * A stream of events over any number of connections: what breaks is opened again with the id of the last event
 * that was handed out, so the loop over it sees each once and in order. It ends with an error that another
 * connection would meet as well, or by its caller.
 */
import { createParser } from "eventsource-parser";
import { readAnswer } from "./answer.ts";
import type { Event } from "./api.gen.ts";
import { backoff, sleep } from "./call.ts";
import { failureOf, own } from "./failure.ts";
import type { BerthOptions } from "./options.ts";
import { STAY, Unreached, addressOf, headersOf, unreached, wireOf } from "./transport.ts";

/** The server gives a sign of life every 15 s; who is silent for longer is gone without a word. */
const SILENCE_MS = 45_000;

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
  /** Connections in a row that brought nothing. */
  failures: number;
}

/** Yields events until its caller leaves. Throws a `BerthError`, or the reason of the caller's signal. */
export async function* watchEvents(
  options: BerthOptions,
  watch: Watch,
): AsyncGenerator<Event, void, undefined> {
  const signal = watch.signal ?? new AbortController().signal;
  const progress: Progress = { lastEventId: undefined, failures: 0 };
  for (;;) {
    signal.throwIfAborted();
    let waitMs = 0;
    const before = progress.lastEventId;
    try {
      yield* connection(options, watch, progress);
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = failureOf(thrown);
      if (!failure) throw thrown;
      const { error, retryAfterMs = 0 } = failure;
      if (!isPassing(error.code, options, progress.lastEventId !== before)) throw error;
      waitMs = retryAfterMs;
    }
    await sleep(Math.max(waitMs, backoff(progress.failures)), signal);
    progress.failures += 1;
  }
}

/** A token that ran out while the stream was open is followed by the next one. */
function isPassing(code: string, options: BerthOptions, wasOpen: boolean): boolean {
  if (code === "UNAUTHENTICATED") return wasOpen && typeof options.token === "function";
  return PASSING.has(code);
}

/** The events of one connection, until it ends. */
async function* connection(
  options: BerthOptions,
  watch: Watch,
  progress: Progress,
): AsyncGenerator<Event, void, undefined> {
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = (): void => controller.abort(watch.signal?.reason);
  watch.signal?.addEventListener("abort", onAbort);
  try {
    const reader = await open(options, { ...watch, signal }, progress.lastEventId);
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

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function open(
  options: BerthOptions,
  { path, input, signal }: Watch,
  lastEventId: string | undefined,
): Promise<Reader> {
  const url = `${addressOf(options.url)}/trpc/${path}`;
  const headers = {
    ...(await headersOf(options)),
    accept: "text/event-stream",
    "content-type": "application/json",
  };
  const json = lastEventId === undefined ? input : { ...input, lastEventId };
  const fetch = options.fetch ?? globalThis.fetch;
  const init: RequestInit = { method: "POST", headers, body: JSON.stringify({ json }), ...STAY };
  if (signal) init.signal = signal;
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw unreached(url, cause);
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream && response.body) return response.body.getReader();
  const body = await response.text().catch((cause: unknown) => {
    throw unreached(url, cause);
  });
  throw refusal(wireOf(response, body), response);
}

/** A refusal in the shape that `failureOf` reads. */
class Refused extends Error {
  readonly data: unknown;
  readonly meta: object | undefined;

  constructor(data: unknown, meta?: object) {
    super("the server refused the stream");
    this.data = data;
    this.meta = meta;
  }
}

function refusal(body: object, response: Response): Refused {
  const { error } = body as { error?: { json?: { data?: unknown } } };
  return new Refused(error?.json?.data, { response, responseJSON: body });
}

interface Frame {
  readonly id: string;
  /** An envelope, as JSON. */
  readonly data: string;
}

/** Characters of one event at most; the largest has the units of one reservation. */
const FRAME_MAX = 8_000_000;

/** What the server says when it ends a stream. */
interface Told {
  readonly json?: { readonly data?: unknown } | null;
}

/** @throws BerthError BAD_ANSWER for what is not of the wire */
function understood(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    throw foreign("what is no event");
  }
}

function foreign(what: string): Error {
  return own("BAD_ANSWER", `the stream held ${what}: is the URL that of a Berth server?`, {
    retryable: false,
  });
}

/** @throws Refused when the server says why it ends the stream */
async function* frames(
  reader: Reader,
  controller: AbortController,
): AsyncGenerator<Frame, void, undefined> {
  let ready: Frame[] = [];
  let refused: Error | undefined;
  const parser = createParser({
    maxBufferSize: FRAME_MAX,
    onEvent({ id, event, data }) {
      if (event === "serialized-error") {
        const told = understood(() => JSON.parse(data)) as Told | null;
        refused = new Refused(told?.json?.data);
      } else if (event === undefined && id) ready.push({ id, data });
    },
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") refused = foreign("an event without an end");
    },
  });
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await next(reader, controller);
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    yield* ready;
    ready = [];
    if (refused) throw refused;
  }
}

/** The next bytes; the time that the caller takes over what came before is nobody's silence. */
async function next(
  reader: Reader,
  controller: AbortController,
): Promise<Awaited<ReturnType<Reader["read"]>>> {
  const silence = new Unreached(`the server was silent for ${SILENCE_MS / 1_000} s`);
  const timer = setTimeout(() => controller.abort(silence), SILENCE_MS);
  try {
    return await untilAborted(reader.read(), controller.signal);
  } catch (cause) {
    if (cause instanceof Unreached) throw cause;
    throw new Unreached("the stream broke off", { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** A `fetch` that knows no signals still lets go. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
