/** The present, as often as whoever asks needs it. One timer for each interval, however many read it. */
import { useSyncExternalStore } from "react";

interface Ticker {
  now: number;
  readonly subscribe: (listener: () => void) => () => void;
}

const tickers = new Map<number, Ticker>();

function tickerOf(everyMs: number): Ticker {
  const known = tickers.get(everyMs);
  if (known) return known;
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const ticker: Ticker = {
    now: Date.now(),
    subscribe: (listener) => {
      listeners.add(listener);
      ticker.now = Date.now();
      timer ??= setInterval(() => {
        ticker.now = Date.now();
        for (const each of listeners) each();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
  tickers.set(everyMs, ticker);
  return ticker;
}

/** Milliseconds since the epoch, at most `everyMs` old; default one second. */
export function useNow(everyMs = 1_000): number {
  const ticker = tickerOf(everyMs);
  return useSyncExternalStore(ticker.subscribe, () => ticker.now);
}
