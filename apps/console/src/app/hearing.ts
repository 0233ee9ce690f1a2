/**
 * Whether the streams of the tab are open and heard: what the badge says comes from here alone. An answer to a question
 * is no sign of a stream: it ends the doubt that a missing answer raised, and no other. Nor is one stream of another.
 */
import type { LiveStore } from "./live-store.ts";

/** The server gives a sign of life on a stream every 15 s; past this one is missing. */
export const SIGN_MS = 20_000;

/** One stream, over all of its connections. */
export interface Listening {
  /** A connection of it stands. */
  opened(now: number): void;
  /** Something came over it, an event or a sign of life. */
  heard(now: number): void;
  /** It broke off. */
  broke(now: number): void;
  /** Nobody listens to it any more. */
  close(): void;
}

export interface Hearing {
  /** A stream is about to be opened; until it is, it counts for nothing. */
  listen(): Listening;
  /** The server left a question unanswered that was asked at this time: it may be frozen with all streams open. */
  unanswered(askedAt: number): void;
  /** It answers again. */
  answered(now: number): void;
  /** Looks whether a sign of life is missing. */
  check(now: number): void;
}

interface Stream {
  state: "new" | "heard" | "silent" | "broken";
  lastSign: number;
}

/** Writes `live` and `stale` into the store. */
export function createHearing(store: LiveStore): Hearing {
  const streams = new Set<Stream>();
  const fallSilent = (which: (stream: Stream) => boolean, since: number): void => {
    const fallen = [...streams].filter((stream) => stream.state === "heard" && which(stream));
    for (const stream of fallen) stream.state = "silent";
    if (fallen.length > 0 && store.get().kind === "live") store.set({ kind: "stale", since });
  };
  const recover = (from: "connecting" | "stale"): void => {
    const counted = [...streams].filter(({ state }) => state !== "new");
    const all = counted.length > 0 && counted.every(({ state }) => state === "heard");
    if (all && store.get().kind === from) store.set({ kind: "live" });
  };
  const sign = (stream: Stream, now: number): void => {
    stream.state = "heard";
    stream.lastSign = now;
    recover("stale");
  };
  return {
    listen() {
      const stream: Stream = { state: "new", lastSign: 0 };
      streams.add(stream);
      return {
        opened(now) {
          sign(stream, now);
          recover("connecting");
        },
        heard(now) {
          // What comes late over a connection that is lost says nothing of the next one.
          if (stream.state === "heard" || stream.state === "silent") sign(stream, now);
        },
        broke(now) {
          stream.state = "broken";
          store.set({ kind: "stale", since: now });
        },
        close() {
          streams.delete(stream);
          recover("stale");
        },
      };
    },
    unanswered: (askedAt) => fallSilent(() => true, askedAt),
    answered: (now) => {
      for (const stream of streams)
        if (stream.state === "silent" && now - stream.lastSign <= SIGN_MS) stream.state = "heard";
      recover("stale");
    },
    check: (now) => {
      const oldest = Math.min(now, ...[...streams].map(({ lastSign }) => lastSign || now));
      fallSilent(({ lastSign }) => now - lastSign > SIGN_MS, oldest);
    },
  };
}

/** `fetch`, telling of all that comes over a stream of events, before the client reads it. */
export function hearingFetch(heard: () => void): typeof fetch {
  return async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream || response.body === null) return response;
    const told = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(bytes, controller) {
        heard();
        controller.enqueue(bytes);
      },
    });
    return new Response(response.body.pipeThrough(told), response);
  };
}
