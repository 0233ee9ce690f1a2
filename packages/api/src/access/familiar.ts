/**
 * Tokens that were good not long ago. Where somebody guesses keys, an address is asked to wait before its
 * tokens are looked at; whoever has shown this very token before is not made to wait with them.
 */
import { hashToken } from "./token.ts";

const REMEMBERED_MS = 3_600_000;
const REMEMBERED_MAX = 50_000;

export interface Familiar {
  /** The token was just accepted. */
  met(token: string): void;
  /** It was refused: who presents it is a stranger from now on. */
  forget(token: string): void;
  /** Whether it was accepted by this process within the last hour. It may have been revoked since. */
  knows(token: string): boolean;
}

/** @param elapsed milliseconds of a clock that only goes forward */
export function createFamiliar(elapsed: () => number = () => performance.now()): Familiar {
  /** By hash, the one met longest ago first. */
  const metAt = new Map<string, number>();
  return {
    met(token) {
      const hash = hashToken(token).toString("base64");
      metAt.delete(hash);
      if (metAt.size >= REMEMBERED_MAX) metAt.delete(metAt.keys().next().value ?? "");
      metAt.set(hash, elapsed());
    },
    forget(token) {
      metAt.delete(hashToken(token).toString("base64"));
    },
    knows(token) {
      const at = metAt.get(hashToken(token).toString("base64"));
      return at !== undefined && elapsed() - at < REMEMBERED_MS;
    },
  };
}
