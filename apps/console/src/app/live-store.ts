/** Whether what is on the page is live: one value for the tab, read by the badge. */
import { useSyncExternalStore } from "react";
import { createHearing } from "./hearing.ts";

export type LiveState =
  /** The stream is open. */
  | { readonly kind: "live" }
  /** The first connection is on its way. */
  | { readonly kind: "connecting" }
  /** The stream broke off: what is on the page may be as old as this. */
  | { readonly kind: "stale"; readonly since: number }
  /** The caller may not read events: what is on the page is read again now and then. */
  | { readonly kind: "refused"; readonly why: string };

export interface LiveStore {
  get(): LiveState;
  set(state: LiveState): void;
  subscribe(listener: () => void): () => void;
}

export function createLiveStore(): LiveStore {
  let current: LiveState = { kind: "connecting" };
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(state) {
      // Stale for longer is still stale since the first break.
      if (state.kind === "stale" && current.kind === "stale") return;
      current = state;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const liveStore = createLiveStore();
export const hearing = createHearing(liveStore);

export function useLive(): LiveState {
  return useSyncExternalStore(liveStore.subscribe, liveStore.get);
}
