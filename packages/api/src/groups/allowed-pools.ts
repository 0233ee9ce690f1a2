/** The item filter of lists: a pool that the caller may not have is absent, and nothing betrays it. */
import { poolInScope } from "../access/scope.ts";
import type { Call, TenantScope, VisiblePool } from "../call.ts";

/** Those of the pools on which the caller may do `action`, each decided by itself. */
export function allowedPools(
  call: Call,
  scope: TenantScope,
  asked: { readonly action: string; readonly pools: readonly VisiblePool[] },
): VisiblePool[] {
  const { access } = call.deps;
  return asked.pools.filter(
    (pool) =>
      poolInScope(call.principal, pool.poolId) &&
      access.decide(call.principal, asked.action, { kind: "compute-pool", scope, pool }),
  );
}
