/** What a key was narrowed to when it was made. An absent list narrows nothing. */
import type { PoolId } from "@berth/domain";
import { type KeyScope, type Principal, ROLES, type Role } from "../call.ts";

export function actionInScope(principal: Principal, action: string): boolean {
  const actions = principal.scope?.actions;
  return actions === undefined || actions.includes(action);
}

/** With a null pool: whether things outside every pool are in reach. */
export function poolInScope(principal: Principal, poolId: PoolId | null): boolean {
  const pools = principal.scope?.poolIds;
  if (pools === undefined) return true;
  return poolId !== null && pools.includes(poolId);
}

export function rank(role: Role): number {
  return ROLES.indexOf(role);
}

/** The parts of a key that must not pass those of the key that makes it. */
export interface KeyPower {
  readonly role: Role;
  readonly scope: KeyScope | null;
  readonly expiresAt: number | null;
}

/** Why a maker may not give this much; null when it may. Nothing is narrowed in silence. */
export function exceeds(asked: KeyPower, maker: KeyPower): string | null {
  if (rank(asked.role) > rank(maker.role))
    return `role ${asked.role} is more than the caller's own, ${maker.role}`;
  if (!within(asked.scope?.poolIds, maker.scope?.poolIds))
    return "scope.poolIds must be given and lie within the caller's own";
  if (!within(asked.scope?.actions, maker.scope?.actions))
    return "scope.actions must be given and lie within the caller's own";
  if (maker.expiresAt !== null && (asked.expiresAt === null || asked.expiresAt > maker.expiresAt))
    return `expiresAt must be given and not be after the caller's own, ${maker.expiresAt}`;
  return null;
}

function within(
  asked: readonly string[] | undefined,
  limit: readonly string[] | undefined,
): boolean {
  if (limit === undefined) return true;
  return asked !== undefined && asked.every((item) => limit.includes(item));
}
