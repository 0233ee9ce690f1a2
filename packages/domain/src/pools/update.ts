/** Replaces a pool's policy, its GPU model, or both. */
import type { TenantId } from "../ids.ts";
import type { PoolConfig } from "../model.ts";
import { takePendingLayouts } from "../fleet/settle.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { atPoolVersion, changeConfig, openPool, tellPool } from "./config.ts";
import { tablesIn } from "./mig-layout.ts";
import { type PolicyInput, policyIssues, storedPolicy } from "./policy.ts";

export interface UpdatePoolAsk {
  readonly tenantId: TenantId;
  readonly policy?: PolicyInput | undefined;
  readonly gpuModel?: string | undefined;
  readonly version?: number | undefined;
}

/**
 * The pool, one version on; nodes whose GPUs are idle take a new layout or number of slots at once. A field
 * that is not given stays, so updates of different fields both hold.
 */
export function updatePool(turn: Turn, ask: UpdatePoolAsk): Result<PoolConfig> {
  if (ask.policy === undefined && ask.gpuModel === undefined) return refuse(NOTHING);
  const open = openPool(turn, ask.tenantId);
  if (!open.ok) return open;
  const current = atPoolVersion(open.value, ask.version);
  if (!current.ok) return current;
  const before = current.value;
  if (ask.policy !== undefined) {
    const { siteKind } = before;
    const issues = policyIssues(ask.policy, { siteKind, tables: tablesIn(turn.state) });
    if (issues.length > 0) return refuse({ code: "INVALID_INPUT", issues });
    if (ask.policy.singleTenant && heldByMany(before))
      return refuse({
        code: "INVALID_STATE",
        message: "singleTenant needs at most one offer, and none with descendants",
      });
  }
  const after: PoolConfig = {
    ...before,
    policy: ask.policy === undefined ? before.policy : storedPolicy(ask.policy),
    gpuModel: ask.gpuModel ?? before.gpuModel,
    version: before.version + 1,
    updatedAt: turn.now,
  };
  changeConfig(turn, before, after);
  const { version, gpuModel, policy } = after;
  const changed = (["policy", "gpuModel"] as const).filter((field) => ask[field] !== undefined);
  tellPool(turn, "pool.updated", {
    config: after,
    owner: { version, gpuModel, policy, changed },
    guests: after.offers.map(({ tenantId }) => ({ tenantId, data: { version, gpuModel } })),
  });
  takePendingLayouts(turn);
  return ok(after);
}

const NOTHING = {
  code: "INVALID_INPUT",
  issues: [
    { path: ["policy"], message: "give policy, gpuModel, or both: there is nothing to change" },
  ],
} as const;

function heldByMany(config: PoolConfig): boolean {
  const guests = config.offers.filter((offer) => offer.tenantId !== config.tenantId);
  return guests.length > 1 || config.offers.some((offer) => offer.includeDescendants);
}
