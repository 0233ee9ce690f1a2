/** A key as its tenant's admins see it: never its secret, never its hash. */
import type { Output, Role } from "@berth/contract";
import type { KeyId } from "@berth/domain";
import type { KeyScope } from "../../call.ts";

export type KeyView = Output<"access.listKeys">["keys"][number];
type ScopeView = KeyView["scope"];

export interface KeyRow {
  readonly id: KeyId;
  readonly tenantId: string;
  readonly name: string;
  readonly role: Role;
  readonly scope: KeyScope | null;
  readonly createdBy: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** The columns of `KeyRow`, for a select or a returning clause. */
export const KEY_COLUMNS = `id, tenant_id as "tenantId", name, role, scope, created_by as "createdBy",
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt",
  last_used_at as "lastUsedAt"`;

export function keyView(row: KeyRow): KeyView {
  return { ...row, scope: scopeView(row.scope), createdBy: row.createdBy ?? "bootstrap" };
}

export function scopeView(scope: KeyScope | null): ScopeView {
  if (!scope) return null;
  // The contract's action names were checked when the key was made.
  const actions = (scope.actions ?? null) as NonNullable<ScopeView>["actions"];
  return { poolIds: scope.poolIds ? [...scope.poolIds] : null, actions };
}
