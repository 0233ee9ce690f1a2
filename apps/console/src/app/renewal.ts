/**
 * Asks again what events made stale: gathered for a moment, and a key never twice at once. Without that, events that
 * come faster than a large answer would cancel it again and again, and it would never be there.
 */
import type { QueryClient } from "@tanstack/react-query";
import { keyPrefix } from "./stale-keys.ts";
import type { StaleKey } from "./stale-keys.ts";

/** Events within this long are answered by one round of questions. */
const GATHER_MS = 40;

/** Makes keys stale. */
export type Renew = (keys: readonly StaleKey[]) => void;

export function createRenewal(queryClient: QueryClient): Renew {
  let waiting = new Set<StaleKey>();
  /** Of those, what was being asked already when it became stale: such an answer may be of before the event. */
  const underway = new Set<StaleKey>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const running = new Set<StaleKey>();
  /** Became stale while they were asked. */
  const again = new Set<StaleKey>();

  const isAsked = (key: StaleKey): boolean =>
    queryClient.isFetching({ queryKey: [...keyPrefix(key)] }) > 0;

  const ask = async (key: StaleKey): Promise<void> => {
    if (running.has(key)) {
      again.add(key);
      return;
    }
    running.add(key);
    const queryKey = [...keyPrefix(key)];
    if (underway.delete(key) && isAsked(key)) again.add(key);
    await queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false });
    running.delete(key);
    if (again.delete(key)) await ask(key);
  };

  return (keys) => {
    for (const key of keys) {
      waiting.add(key);
      if (isAsked(key)) underway.add(key);
    }
    timer ??= setTimeout(() => {
      const due = waiting;
      waiting = new Set();
      timer = undefined;
      for (const key of due) void ask(key);
    }, GATHER_MS);
  };
}
