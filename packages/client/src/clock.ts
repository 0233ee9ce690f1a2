/** Time as a holder of a lease needs it: what the machine slept through counts, and a timer keeps nobody up. */

/** Slices of a pause: how late a machine that wakes up notices what it missed. */
const SLICE_MS = 5_000;

/** Milliseconds since it was started. */
export type Clock = () => number;

/**
 * Counts by whichever of the two clocks went on further: the monotonic one stands still on some machines that sleep,
 * and the wall clock may be set back. A wall clock that is set forward makes a renewal come early, and no more.
 */
export function startClock(): Clock {
  let passed = 0;
  let [mono, wall] = [performance.now(), Date.now()];
  return () => {
    const [nextMono, nextWall] = [performance.now(), Date.now()];
    passed += Math.max(nextMono - mono, nextWall - wall, 0);
    [mono, wall] = [nextMono, nextWall];
    return passed;
  };
}

/** What a page tells when somebody looks at it again, or the network is back. */
interface Page extends Partial<Pick<EventTarget, "addEventListener" | "removeEventListener">> {
  readonly document?: Page;
}

/** Resolves when the clock shows that time, or when the signal aborts. Its timers do not keep a process alive. */
export async function pauseUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && clock() < at) await slice(Math.min(SLICE_MS, at - clock()), signal);
}

function slice(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      for (const [target, event] of waking()) target.removeEventListener?.(event, done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(ms, 1));
    // A browser's timer is a number.
    (timer as unknown as { unref?: () => void }).unref?.();
    signal.addEventListener("abort", done);
    for (const [target, event] of waking()) target.addEventListener?.(event, done);
  });
}

/** Where a throttled page hears that it may run again. */
function waking(): readonly (readonly [Page, string])[] {
  const page = globalThis as unknown as Page;
  if (!page.document || !page.addEventListener) return [];
  return [
    [page.document, "visibilitychange"],
    [page, "online"],
  ];
}
