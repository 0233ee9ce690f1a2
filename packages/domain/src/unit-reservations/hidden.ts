/**
 * What a tenant reads of units that are withheld from it. One that it may book as spot is not: it is on the
 * market, for whoever wants it.
 */
import type { TenantId, UnitId } from "../ids.ts";
import { withholds } from "../placer/withheld.ts";
import type { Term } from "../state/node-entry.ts";
import type { PoolState } from "../state/pool-state.ts";

/** The terms for which the unit is withheld from the tenant, by start. */
export function withheldTerms(
  terms: readonly Term[],
  { unitId, tenantId }: { readonly unitId: UnitId; readonly tenantId: TenantId },
): Term[] {
  return terms.filter((term) => withholds(term, unitId, { tenantId, spot: true }));
}

/** Whether one of the terms withholds the unit from the tenant at that instant. */
export function isWithheldAt(
  terms: readonly Term[],
  at: { readonly unitId: UnitId; readonly tenantId: TenantId; readonly now: number },
): boolean {
  return withheldTerms(terms, at).some(({ start, end }) => start <= at.now && at.now < end);
}

/** All terms that speak for the unit, by start. */
export function termsOf(state: PoolState, unitId: UnitId): readonly Term[] {
  const found = state.place(unitId);
  return found?.entry.terms?.[found.unit] ?? [];
}
