/**
 * Where the issuer keeps its keys, by its own discovery document, and the keys. The document may only
 * confirm what the operator said: another issuer, or keys on another host, is refused, so that nobody who
 * can change that answer can make a server ask somewhere else or believe somebody else.
 */
import type { JSONWebKeySet, JWK } from "jose";
import { z } from "zod";
import { IssuerContradiction, IssuerUnreachable, fetchJson } from "./fetch-json.ts";
import { type OidcSettings, isTrustworthy } from "./settings.ts";

const KEYS_MAX = 100;
/** Base64url characters of a modulus of 8,192 bits: a larger one is slow to check with. */
const MODULUS_MAX = 1_366;
const EXPONENT_MAX = 8;

const document = z.object({ issuer: z.string(), jwks_uri: z.string().max(2_048) });
const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(KEYS_MAX) });

/** @throws IssuerUnreachable, IssuerContradiction */
export async function discover(settings: OidcSettings, deadline: AbortSignal): Promise<URL> {
  const issuer = new URL(settings.issuer);
  const found = document.safeParse(await fetchJson(discoveryUrl(settings.issuer), deadline));
  if (!found.success)
    throw new IssuerUnreachable("the discovery document has no issuer or jwks_uri");
  if (found.data.issuer !== settings.issuer)
    throw new IssuerContradiction("the discovery document there is that of another issuer");
  const keys = URL.parse(found.data.jwks_uri);
  if (keys === null || !isTrustworthy(keys) || keys.origin !== issuer.origin)
    throw new IssuerContradiction(
      "the discovery document there has its jwks_uri on another host; when that is right, BERTH_OIDC_JWKS_URI says so",
    );
  return keys;
}

/** OpenID Connect Discovery 1.0, section 4: below the issuer's own path. */
function discoveryUrl(issuer: string): URL {
  return new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
}

/** The keys that can check signatures, and nothing else of the set. @throws IssuerUnreachable, IssuerContradiction */
export async function fetchKeys(url: URL, deadline: AbortSignal): Promise<JSONWebKeySet> {
  const found = keySet.safeParse(await fetchJson(url, deadline));
  if (!found.success) throw new IssuerUnreachable("the issuer's key set is not one");
  return { keys: (found.data.keys as JWK[]).filter(isUsable) };
}

function isUsable({ kty, n, e, d, use }: JWK): boolean {
  if (d !== undefined || (use !== undefined && use !== "sig")) return false;
  if (kty === "EC" || kty === "OKP") return true;
  if (kty !== "RSA" || typeof n !== "string" || typeof e !== "string") return false;
  return n.length <= MODULUS_MAX && e.length <= EXPONENT_MAX;
}
