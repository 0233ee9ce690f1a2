/** How many requests are being answered, and a promise for when none is. */
export interface Traffic {
  enter(): void;
  leave(): void;
  /** Resolves when nothing is being answered, or after the patience; answers what is still going on. */
  idle(patienceMs: number): Promise<number>;
}

export function createTraffic(): Traffic {
  let running = 0;
  let tell: (() => void) | undefined;
  return {
    enter() {
      running += 1;
    },
    leave() {
      running -= 1;
      if (running === 0) tell?.();
    },
    async idle(patienceMs) {
      if (running === 0) return 0;
      const quiet = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, patienceMs);
      await Promise.race([quiet, late]);
      clearTimeout(timer);
      return running;
    },
  };
}
