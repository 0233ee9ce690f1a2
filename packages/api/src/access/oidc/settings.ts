/** What an operator says of the issuer whose tokens are taken; read from the environment by the server. */
import type { TenantId } from "@berth/domain";
import type { Role } from "../../call.ts";

/** The way from a token's claims to one of them: names, outermost first. */
export type ClaimPath = readonly string[];

/** What one value of a role claim gives; a null tenant: the one that the tenant claim names. */
export interface RoleGrant {
  readonly role: Role;
  readonly tenantId: TenantId | null;
}

/** Which tokens are taken: those made for an API, or those made to tell a client who signed in. */
export type TokenKind = "access" | "id";

export interface OidcSettings {
  /** Exactly the tokens' `iss`. */
  readonly issuer: string;
  /** Exactly the tokens' `aud`, or one of them. */
  readonly audience: string;
  /** Where its keys are; null = where the issuer's own discovery says, on the issuer's own host. */
  readonly jwksUri: string | null;
  readonly algorithms: readonly string[];
  readonly tokens: TokenKind;
  /** Null = every grant names its tenant. */
  readonly tenantClaim: ClaimPath | null;
  readonly roleClaims: readonly ClaimPath[];
  /** By value of a role claim; null = the values are the names of roles. */
  readonly roleMap: ReadonlyMap<string, RoleGrant> | null;
}

/** Asymmetric ones only: with an HMAC, whoever can check a token can make one. */
export const OIDC_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether keys may be fetched from there: over TLS, or from this machine; no name, password or fragment in it. */
export function isTrustworthy(url: URL): boolean {
  if (url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
}
