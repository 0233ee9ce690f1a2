/**
 * Tokens that were good not long ago. Where somebody guesses keys, an address is asked to wait before its
 * tokens are looked at; whoever has shown this very token before is not made to wait with them. And where there is
 * too much to do, a caller's share is known before its token is looked at again.
 */
import type { TenantId } from "@berth/domain";
import { hashToken } from "./token.ts";

const REMEMBERED_MS = 3_600_000;
const REMEMBERED_MAX = 50_000;

export interface Familiar {
  /** The token was just accepted as one of that tenant. */
  met(token: string, tenantId: TenantId): void;
  /** It was refused: who presents it is a stranger from now on. */
  forget(token: string): void;
  /** Whose it is that was accepted by this process within the last hour, else null. It may have been revoked since. */
  tenantOf(token: string): TenantId | null;
}

/** @param elapsed milliseconds of a clock that only goes forward */
export function createFamiliar(elapsed: () => number = () => performance.now()): Familiar {
  /** By hash, the one met longest ago first. */
  const metAt = new Map<string, { readonly at: number; readonly tenantId: TenantId }>();
  return {
    met(token, tenantId) {
      const hash = hashToken(token).toString("base64");
      metAt.delete(hash);
      if (metAt.size >= REMEMBERED_MAX) metAt.delete(metAt.keys().next().value ?? "");
      metAt.set(hash, { at: elapsed(), tenantId });
    },
    forget(token) {
      metAt.delete(hashToken(token).toString("base64"));
    },
    tenantOf(token) {
      const met = metAt.get(hashToken(token).toString("base64"));
      return met && elapsed() - met.at < REMEMBERED_MS ? met.tenantId : null;
    },
  };
}
