/** Who a credential stands for. */
import type { TenantId } from "@berth/domain";
import type { KeyPrincipal, Principal, Role, TokenPrincipal } from "../call.ts";

export type { TokenPrincipal } from "../call.ts";

export type KeyFacts = Omit<KeyPrincipal, "id" | "credential">;

/** Text of (tenant, name) that no other pair shares: a tenant id never holds a slash. */
export function keyPrincipal(facts: KeyFacts): KeyPrincipal {
  return { id: `${facts.tenantId}/${facts.name}`, credential: "key", ...facts };
}

/**
 * Whom it names as the maker of a unit reservation, whose events go to the maker's tenant: the text before
 * the first slash. A token's own id says nothing of a tenant.
 */
export function makerOf({ id, credential, tenantId }: Principal): string {
  return credential === "token" ? `${tenantId}/${id}` : id;
}

export interface TokenFacts {
  readonly issuer: string;
  readonly subject: string;
  readonly tenantId: TenantId;
  readonly role: Role;
  readonly expiresAt: number;
}

/**
 * Text of (issuer, subject) that no other pair shares: an issuer never holds a space. It is no key's either:
 * before the first slash of those is a tenant id, which never holds a space.
 */
export function tokenPrincipal({ issuer, subject, ...facts }: TokenFacts): TokenPrincipal {
  const id = `oidc ${issuer} ${subject}`;
  return { id, credential: "token", name: subject, scope: null, ...facts };
}
