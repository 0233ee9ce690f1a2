/**
 * Tokens of the configured issuer at the door. A token is checked once and then known by its hash, for as
 * long as it lasts and the issuer's keys stay what they are; what is remembered, and what is checked at once,
 * has an end. Its time is this machine's own: the issuer's `exp` is a promise about the real one.
 */
import type { Log } from "../../call.ts";
import type { TokenPrincipal } from "../principal.ts";
import { hashToken } from "../token.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import type { Refusal } from "./refusal.ts";
import type { OidcSettings } from "./settings.ts";
import { TOLERANCE_SECONDS, type Verified, verify } from "./verify.ts";

const REMEMBERED_MAX = 10_000;

/** The clocks that tokens and keys are held against; tests move them. */
export interface OidcClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that only goes forward. */
  elapsed(): number;
}

export interface Oidc {
  /** Who the token stands for. @throws ApiError UNAVAILABLE when the issuer's keys cannot be known */
  authenticate(token: string): Promise<TokenPrincipal | Refusal>;
}

export interface OidcOptions {
  readonly settings: OidcSettings;
  readonly log: Log;
  readonly clock?: OidcClock | undefined;
}

const OWN_CLOCK: OidcClock = { now: () => Date.now(), elapsed: () => performance.now() };

/**
 * Reads the issuer's keys a first time. An issuer that cannot be reached stops nothing: its tokens are
 * UNAVAILABLE until it answers.
 * @throws IssuerContradiction when the issuer answers what the settings do not allow
 */
export async function createOidc(options: OidcOptions): Promise<Oidc> {
  const { settings, log, clock = OWN_CLOCK } = options;
  const { now, elapsed } = clock;
  const keys = createIssuerKeys({ settings, log, elapsed });
  await keys.start();
  const verified = new Map<string, Verified>();
  const verifying = new Map<string, Promise<Verified | Refusal>>();

  const verifyOnce = (hash: string, token: string): Promise<Verified | Refusal> => {
    const begun = verifying.get(hash);
    if (begun) return begun;
    const outcome = verify(token, { settings, keys, now }).finally(() => verifying.delete(hash));
    verifying.set(hash, outcome);
    return outcome;
  };

  return {
    async authenticate(token) {
      const hash = hashToken(token).toString("base64");
      const known = verified.get(hash);
      if (known && known.set === (await keys.current())) {
        if (!isOver(known.principal, now())) return known.principal;
        verified.delete(hash);
        return { refused: "expired", subject: known.principal.name };
      }
      verified.delete(hash);
      const outcome = await verifyOnce(hash, token);
      if ("refused" in outcome) return outcome;
      if (verified.size >= REMEMBERED_MAX) verified.delete(verified.keys().next().value ?? "");
      verified.set(hash, outcome);
      return outcome.principal;
    },
  };
}

function isOver({ expiresAt }: TokenPrincipal, now: number): boolean {
  return expiresAt + TOLERANCE_SECONDS * 1_000 <= now;
}
