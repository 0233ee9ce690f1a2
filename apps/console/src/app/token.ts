/** The token of each request: a key as it is, an issuer's token renewed before it ends. */
import { keepCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { isEnding, oidcSettings, renewed } from "./oidc.ts";

/** @param onEnded is told once the issuer gives no further token */
export function tokenOf(
  credentials: Credentials,
  onEnded: () => void,
): string | (() => Promise<string>) {
  if (credentials.kind === "key") return credentials.token;
  let current: Promise<Credentials> = Promise.resolve(credentials);
  return async () => {
    // Calls at the same moment share one renewal.
    current = current.then(next);
    try {
      return (await current).token;
    } catch (error) {
      onEnded();
      throw error;
    }
  };
}

async function next(credentials: Credentials): Promise<Credentials> {
  if (credentials.kind === "key" || !isEnding(credentials)) return credentials;
  const settings = await oidcSettings();
  const fresh = settings && (await renewed(settings, credentials));
  if (!fresh) throw new Error("the issuer's token has ended");
  keepCredentials(fresh);
  return fresh;
}
