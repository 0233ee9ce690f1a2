/**
 * Bounds what a caller waits for. Every wait of ours has a limit of its own (a statement, a lock, a silent
 * connection, a queue), but a call may meet several of them one after the other.
 */
import type { MethodName } from "@berth/contract";
import { ApiError } from "./errors.ts";

/** A call has its answer in this time, and as much more as it asked to wait for room. */
const CALL_MS = 7_500;
/** Of the one method that takes thousands of rows: an operator's import is not to fail of a slow machine. */
const LARGE_CALL_MS = 30_000;
/** Before it, whose call it is. */
export const CALLER_MS = 4_000;

const LATE =
  "The answer did not come in time. The call may have taken effect all the same: ask again, with the same idempotency key.";

/**
 * What the work answers, unless it is late; then its signal fires, so that what has not begun does not.
 * @throws ApiError UNAVAILABLE when it is late
 */
export async function inTime<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  caller?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new ApiError("UNAVAILABLE", { message: LATE }));
    over.abort();
  }, ms);
  const gone = (): void => over.abort();
  if (caller?.aborted) gone();
  caller?.addEventListener("abort", gone, { once: true });
  try {
    return await Promise.race([work(over.signal), late]);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener("abort", gone);
  }
}

/** Milliseconds that a call of this method and input may take. */
export function patienceOf(method: MethodName, input: unknown): number {
  return (method === "fleet.putNodes" ? LARGE_CALL_MS : CALL_MS) + waitOf(input);
}

/** How long the input asks to wait for room, in milliseconds. */
function waitOf(input: unknown): number {
  if (typeof input !== "object" || input === null || !("wait" in input)) return 0;
  const { wait } = input;
  if (typeof wait !== "object" || wait === null || !("timeoutMs" in wait)) return 0;
  return typeof wait.timeoutMs === "number" ? wait.timeoutMs : 0;
}
