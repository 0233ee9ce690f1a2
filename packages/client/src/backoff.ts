/** How long to wait before another try, and the waiting. */

const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 10_000;

/** Doubles from 200 ms to 10 s, less up to half by chance, so that clients do not come back in step. */
export function backoff(attempt: number): number {
  const full = Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** attempt);
  return full * (1 - Math.random() / 2);
}

/** Of what a server tells: so much later at most, so that all that it told the same do not come back at once. */
const SPREAD = 0.25;

/** Before the next try: never earlier than the server told. */
export function waitBefore(attempt: number, toldMs = 0): number {
  return Math.max(toldMs * (1 + SPREAD * Math.random()), backoff(attempt));
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
    if (signal.aborted) done();
  });
}
