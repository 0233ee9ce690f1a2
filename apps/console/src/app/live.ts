/**
 * The one stream of events of the tab. It goes on where it broke off, tells the badge how it stands, and makes stale
 * what each event touches; TanStack Query asks again for what is on the page.
 */
import type { Berth, Event, Hooks } from "@berth/client";
import { isBerthError } from "@berth/client";
import type { Hearing, Listening } from "./hearing.ts";
import type { LiveStore } from "./live-store.ts";
import type { Renew } from "./renewal.ts";
import { ALL_KEYS, staleKeysOf } from "./stale-keys.ts";

/** How often a caller who may not read events looks again. */
const REFUSED_POLL_MS = 15_000;
/** How often the pools' write times are looked at: other tenants' bookings have no event of ours. */
const PULSE_MS = 10_000;

const STREAM = "reservations.watch";
/** For somebody who was signed in a moment ago. */
const SIGNED_OUT =
  "You are signed out: the key was revoked, or the sign-in has run out. Sign in again to go on where you were.";
/** A server that says nothing for so long is not live, whatever its connection looks like. */
const QUIET_MS = 4_000;

/** For the client of the stream: what it tells of its connections. */
export function streamHooks(
  stream: Pick<Listening, "opened" | "broke">,
  opened: () => void,
): Hooks {
  return {
    onResponse({ method, error }) {
      if (method !== STREAM || error !== null) return;
      stream.opened(Date.now());
      opened();
    },
    onRetry({ method }) {
      if (method === STREAM) stream.broke(Date.now());
    },
  };
}

export interface LiveOptions {
  readonly berth: Berth;
  readonly tenantId: string;
  readonly renew: Renew;
  readonly store: LiveStore;
  readonly signal: AbortSignal;
  onEvent(event: Event): void;
  /** The credential is no good any more. */
  onSignedOut(message: string): void;
}

/** Follows the tenant's events until the signal aborts. */
export async function follow(options: LiveOptions): Promise<void> {
  const { berth, tenantId, renew, store, signal } = options;
  for (;;) {
    try {
      for await (const event of berth.reservations.watch({ tenantId }, { signal })) {
        renew(staleKeysOf(event.type));
        options.onEvent(event);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (isBerthError(thrown, "UNAUTHENTICATED")) return options.onSignedOut(SIGNED_OUT);
      if (isBerthError(thrown, "CURSOR_EXPIRED")) {
        // What happened meanwhile is not told any more: everything is asked again, and the stream begins anew.
        renew(ALL_KEYS);
        continue;
      }
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      store.set({ kind: "refused", why });
      return everySoOften(() => renew(ALL_KEYS), REFUSED_POLL_MS, signal);
    }
  }
}

function everySoOften(run: () => unknown, ms: number, signal: AbortSignal): void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") run();
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
  renew,
  signal,
  hearing,
}: Pick<LiveOptions, "berth" | "tenantId" | "renew" | "signal"> & {
  readonly hearing: Pick<Hearing, "check" | "unanswered" | "answered">;
}): void {
  let seen: string | undefined;
  const look = async (): Promise<void> => {
    const asked = Date.now();
    hearing.check(asked);
    const late = setTimeout(() => {
      if (!signal.aborted) hearing.unanswered(asked);
    }, QUIET_MS);
    const answer = await berth.capacity.summary({ tenantId }, { signal }).safe();
    clearTimeout(late);
    if (!answer.ok) return;
    hearing.answered(Date.now());
    const { pools } = answer.data;
    const written = JSON.stringify(pools.map(({ poolId, capacity }) => [poolId, capacity]));
    if (seen !== undefined && seen !== written) renew(staleKeysOf("reservation.created"));
    seen = written;
  };
  // What is compared with is of when the page asked: a change before the second look is one as well.
  void look();
  everySoOften(look, PULSE_MS, signal);
}
