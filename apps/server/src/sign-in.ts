/** Sign-in by tokens of an OIDC issuer, when one is configured: its keys are read once before the server listens. */
import { IssuerContradiction, type Oidc, type OidcClock, createOidc } from "@berth/api";
import type { Logger } from "pino";
import { type Config, ConfigError } from "./config.ts";

/**
 * Null = only keys sign in. An issuer that is away keeps nobody from starting: keys of ours need none.
 * @throws ConfigError when the issuer answers what the settings do not allow
 */
export async function startSignIn(
  { oidc }: Pick<Config, "oidc">,
  log: Logger,
  clock?: OidcClock,
): Promise<Oidc | null> {
  if (oidc === null) return null;
  const { settings } = oidc;
  try {
    return await createOidc({ settings, log, clock });
  } catch (error) {
    if (!(error instanceof IssuerContradiction)) throw error;
    const name = settings.jwksUri === null ? "BERTH_OIDC_ISSUER" : "BERTH_OIDC_JWKS_URI";
    throw new ConfigError(`${name} cannot be used: ${error.message}`);
  }
}
