/**
 * What signs this tab in: a key, or an issuer's token. In sessionStorage: it ends with the tab, and no other tab or
 * site reads it.
 */

const KEY = "berth.credentials";

export type Credentials =
  | { readonly kind: "key"; readonly token: string }
  | {
      readonly kind: "oidc";
      readonly token: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt: number;
      readonly refreshToken: string | null;
    };

export function readCredentials(): Credentials | null {
  const text = sessionStorage.getItem(KEY);
  if (text === null) return null;
  try {
    return JSON.parse(text) as Credentials;
  } catch {
    return null;
  }
}

export function keepCredentials(credentials: Credentials | null): void {
  if (credentials === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(credentials));
}
