/** What ends a call from outside: its time limit and its caller's signal. */

const TIMER_MAX_MS = 2 ** 31 - 1;

export interface Limit {
  readonly signal: AbortSignal;
  remainingMs(): number;
  /** The promise, unless the time is over or the caller aborts first. */
  race<T>(promise: Promise<T>): Promise<T>;
  end(): void;
}

/** @param late makes what the call rejects with when its time is over */
export function startLimit(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  late: () => Error,
): Limit {
  if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs must be more than 0, not ${timeoutMs}`);
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  const onAbort = (): void => controller.abort(outer?.reason);
  const expire = (): void => controller.abort(late());
  // A timer longer than 2^31 - 1 ms would fire at once; nobody waits for one that is 24 days away.
  const timer = timeoutMs > TIMER_MAX_MS ? undefined : setTimeout(expire, timeoutMs);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener("abort", onAbort);
  const { signal } = controller;
  return {
    signal,
    remainingMs: () => endsAt - performance.now(),
    race: (promise) => untilAborted(promise, signal),
    end: () => {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}

/** The promise, unless the signal aborts first: a `fetch` that knows no signals still lets go. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
