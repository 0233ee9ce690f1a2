/** Why a token is refused: for the log, never for the caller, who learns nothing of what was right about it. */

export const REASONS = {
  form: "not three parts of base64url, or too long",
  header:
    "the header is not JSON, names something twice, or has what is not taken: crit, jwk, jku, x5u, x5c, zip, cty, b64, enc",
  algorithm: "`alg` is not among BERTH_OIDC_ALGORITHMS",
  "unknown-key": "the issuer has no such key, or several and the token names none",
  signature: "the signature is not that of the issuer's key",
  issuer: "`iss` is not BERTH_OIDC_ISSUER, letter for letter",
  audience: "`aud` does not hold BERTH_OIDC_AUDIENCE",
  expired: "`exp` is over",
  early: "`nbf` or `iat` is in the future",
  claims: "a claim is missing, given twice or not of its type",
  kind: "an ID, refresh or logout token where access tokens are taken, or the other way round",
  bound: "the token is bound to a key of its holder (`cnf`), which a bearer cannot show",
  unmapped: "no value of the role claims gives a role",
  "no-tenant": "the tenant claim is missing or is no tenant id",
  "several-tenants": "the roles are on several tenants; a caller has exactly one",
} as const;

export type Reason = keyof typeof REASONS;

/** A refused token. `subject` is known only of tokens that the issuer did sign. */
export interface Refusal {
  readonly refused: Reason;
  readonly subject?: string | undefined;
}
