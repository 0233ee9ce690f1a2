/** Who is charged for how much, over time: what quota is checked against. */
import type { TenantId } from "../ids.ts";
import { Profile } from "../profile.ts";

export class UsageBook {
  readonly #byTenant = new Map<TenantId, Map<string, Profile>>();

  of(tenantId: TenantId, resource: string): Profile | undefined {
    return this.#byTenant.get(tenantId)?.get(resource);
  }

  charge(
    who: { readonly tenantId: TenantId; readonly resource: string },
    window: { readonly start: number; readonly end: number },
    amount: number,
  ): void {
    if (amount === 0) return;
    let rows = this.#byTenant.get(who.tenantId);
    if (!rows) this.#byTenant.set(who.tenantId, (rows = new Map<string, Profile>()));
    let profile = rows.get(who.resource);
    if (!profile) rows.set(who.resource, (profile = new Profile()));
    profile.add(window.start, window.end, amount);
    if (!profile.isEmpty) return;
    rows.delete(who.resource);
    if (rows.size === 0) this.#byTenant.delete(who.tenantId);
  }
}
