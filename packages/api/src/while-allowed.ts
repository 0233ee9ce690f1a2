/** A caller that waits is asked for again meanwhile: who is revoked after a second books nothing after thirty. */
import { setInterval } from "node:timers";
import type { Call } from "./call.ts";
import { ApiError } from "./errors.ts";

/** With what a key is cached for, well within the five seconds in which a revocation holds everywhere. */
const RECHECK_MS = 1_000;

/**
 * Runs it with a signal that aborts when the caller hangs up, or may no longer.
 *
 * @throws ApiError that says why the caller may not, where the run ended because of that
 */
export async function whileAllowed<T>(
  call: Pick<Call, "recheck" | "resting" | "signal">,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  let asking = false;
  const ask = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    // Nobody could say: it waits on, and is asked for again.
    const isRefusal = (error: unknown): boolean =>
      error instanceof ApiError && error.code !== "UNAVAILABLE";
    await call.recheck().catch((error: unknown) => isRefusal(error) && ended.abort(error));
    asking = false;
  };
  const timer = setInterval(() => void ask(), RECHECK_MS);
  const resumed = call.resting();
  try {
    const { signal } = call;
    return await run(signal ? AbortSignal.any([signal, ended.signal]) : ended.signal);
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    clearInterval(timer);
    resumed();
  }
}
