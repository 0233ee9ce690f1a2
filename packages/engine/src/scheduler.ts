/** Waiting, as an argument: the real timers in a server, simulated ones where every order is tried. */
import { setImmediate, setTimeout } from "node:timers/promises";

export interface Scheduler {
  /** Resolves after so many milliseconds, or at once when the signal fires; never rejects. */
  delay(ms: number, options?: DelayOptions): Promise<void>;
  /** Lets whatever else is ready go first. */
  yield(): Promise<void>;
}

export interface DelayOptions {
  readonly signal?: AbortSignal;
  /** False: the process may end meanwhile. Default true. */
  readonly ref?: boolean;
}

export const TIMERS: Scheduler = {
  delay: (ms, options = {}) => setTimeout(ms, undefined, options).catch(() => undefined),
  yield: () => setImmediate(),
};
