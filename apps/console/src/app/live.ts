/**
 * The one stream of events of the tab. It goes on where it broke off, tells the badge how it stands, and makes stale
 * what each event touches; TanStack Query asks again for what is on the page.
 */
import type { Berth, Event, Hooks } from "@berth/client";
import { isBerthError } from "@berth/client";
import type { QueryClient } from "@tanstack/react-query";
import type { LiveStore } from "./live-store.ts";
import { keyPrefix, staleKeysOf } from "./stale-keys.ts";
import type { StaleKey } from "./stale-keys.ts";

/** Events within this long are answered by one round of questions. */
const GATHER_MS = 120;
/** How often a caller who may not read events looks again. */
const REFUSED_POLL_MS = 15_000;
/** How often the pools' write times are looked at: other tenants' bookings have no event of ours. */
const PULSE_MS = 10_000;

const STREAM = "reservations.watch";

/** For the client of the stream: what it tells of its connections. */
export function streamHooks(store: LiveStore, opened: () => void): Hooks {
  return {
    onResponse({ method, error }) {
      if (method !== STREAM || error !== null) return;
      store.set({ kind: "live" });
      opened();
    },
    onRetry({ method }) {
      if (method === STREAM) store.set({ kind: "stale", since: Date.now() });
    },
  };
}

export interface LiveOptions {
  readonly berth: Berth;
  readonly tenantId: string;
  readonly queryClient: QueryClient;
  readonly store: LiveStore;
  readonly signal: AbortSignal;
  onEvent(event: Event): void;
  /** The credential is no good any more. */
  onSignedOut(message: string): void;
}

/** Follows the tenant's events until the signal aborts. */
export async function follow(options: LiveOptions): Promise<void> {
  const { berth, tenantId, queryClient, store, signal } = options;
  const gather = gatherer(queryClient, signal);
  for (;;) {
    try {
      for await (const event of berth.reservations.watch({ tenantId }, { signal })) {
        gather(staleKeysOf(event.type));
        options.onEvent(event);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (isBerthError(thrown, "UNAUTHENTICATED")) return options.onSignedOut(thrown.message);
      if (isBerthError(thrown, "CURSOR_EXPIRED")) {
        // What happened meanwhile is not told any more: everything is asked again, and the stream begins anew.
        await queryClient.invalidateQueries();
        continue;
      }
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      store.set({ kind: "refused", why });
      return everySoOften(() => queryClient.invalidateQueries(), REFUSED_POLL_MS, signal);
    }
  }
}

/** Makes keys stale together: a hundred events a second are a few rounds of questions. */
export function gatherer(
  queryClient: QueryClient,
  signal: AbortSignal,
): (keys: readonly StaleKey[]) => void {
  let waiting = new Set<StaleKey>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return (keys) => {
    for (const key of keys) waiting.add(key);
    timer ??= setTimeout(() => {
      const due = waiting;
      waiting = new Set();
      timer = undefined;
      for (const key of due) void queryClient.invalidateQueries({ queryKey: [...keyPrefix(key)] });
    }, GATHER_MS);
  };
}

function everySoOften(run: () => Promise<unknown>, ms: number, signal: AbortSignal): void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void run();
  }, ms);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * Other tenants of a pool are invisible, so their bookings are not told to us; that a pool was written is. Looks at
 * when, while the page is in sight, and makes the pool's numbers stale when it was.
 */
export function pulse({
  berth,
  tenantId,
  queryClient,
  signal,
}: Pick<LiveOptions, "berth" | "tenantId" | "queryClient" | "signal">): void {
  let seen: string | undefined;
  everySoOften(
    async () => {
      const answer = await berth.capacity.summary({ tenantId }, { signal }).safe();
      if (!answer.ok) return;
      const { pools } = answer.data;
      const written = JSON.stringify(pools.map(({ poolId, capacity }) => [poolId, capacity]));
      if (seen !== undefined && seen !== written)
        for (const key of staleKeysOf("reservation.created"))
          void queryClient.invalidateQueries({ queryKey: [...keyPrefix(key)] });
      seen = written;
    },
    PULSE_MS,
    signal,
  );
}
