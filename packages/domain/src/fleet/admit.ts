/** Whether a pool may take a node. */
import type { SiteId } from "../ids.ts";
import type { PoolConfig } from "../model.ts";
import { type Result, invalid, ok, refuse } from "../refusal.ts";

export interface Newcomer {
  readonly name: string;
  readonly siteId: SiteId;
  readonly tenantOwned: boolean;
  /** It is in this pool already: its presence is settled, only what it is may change. */
  readonly member: boolean;
}

/** A null config is the gate of a node in no pool, which takes that node. */
export function admit(config: PoolConfig | null, node: Newcomer): Result<null> {
  if (!config) return ok(null);
  if (config.siteId !== node.siteId)
    return invalid(["poolId"], `node ${node.name} is on another site than the pool`);
  if (!node.member && config.archivedAt !== null)
    return refuse({ code: "INVALID_STATE", message: "an archived pool takes no nodes" });
  if (node.tenantOwned && config.offers.some((offer) => offer.tenantId !== config.tenantId))
    return refuse({
      code: "INVALID_STATE",
      message: `node ${node.name} is tenant-owned and the pool is offered to others`,
    });
  return ok(null);
}
