/** Who a credential stands for. */
import type { KeyId, TenantId } from "@berth/domain";
import type { KeyScope, Principal, Role } from "../call.ts";

/** Text of (tenant, name) that no other pair shares: a tenant id never holds a slash. */
function principalId(tenantId: TenantId, name: string): string {
  return `${tenantId}/${name}`;
}

export interface KeyFacts {
  readonly keyId: KeyId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly role: Role;
  readonly scope: KeyScope | null;
  readonly expiresAt: number | null;
}

export function principalOf(facts: KeyFacts): Principal {
  return { id: principalId(facts.tenantId, facts.name), ...facts };
}
