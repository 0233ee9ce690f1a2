/** Which tenant an address may name. Pure. */
import type { Tenant } from "@berth/client";

/** Links that are offered in place of a wrong address; the rest are in the menu. */
const OFFERED_MAX = 12;

/** @param tenants those that the caller has a role on, without end */
export function isNoneOfMine(
  tenantId: string,
  own: string,
  tenants: readonly Pick<Tenant, "tenantId">[],
): boolean {
  return tenantId !== own && tenants.every((each) => each.tenantId !== tenantId);
}

/** One's own first, then the others as they come; `left` of them are not named. */
export function offered(
  own: string,
  tenants: readonly Pick<Tenant, "tenantId">[],
): { readonly ids: readonly string[]; readonly left: number } {
  const all = [...new Set([own, ...tenants.map(({ tenantId }) => tenantId)])];
  return { ids: all.slice(0, OFFERED_MAX), left: Math.max(0, all.length - OFFERED_MAX) };
}
