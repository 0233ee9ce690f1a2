/** Reads the bytes of one stream of events: frames, refusals, and what is neither. */
import { createParser } from "eventsource-parser";
import { own } from "./errors.ts";
import { untilAborted } from "./limit.ts";
import { Unreached } from "./wire.ts";

/** The server gives a sign of life every 15 s; who is silent for longer is gone without a word. */
export const SILENCE_MS = 45_000;

export type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A refusal in the shape that `failureOf` reads. */
export class Refused extends Error {
  readonly data: unknown;
  readonly meta: object | undefined;

  constructor(data: unknown, meta?: object) {
    super("the server refused the stream");
    this.data = data;
    this.meta = meta;
  }
}

export interface Frame {
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
export function understood(read: () => unknown): unknown {
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
export async function* frames(
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
