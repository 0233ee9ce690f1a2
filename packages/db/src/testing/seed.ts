/** Tenants, a site and a pool with nodes, written the way the product writes them. */
import type { Node, PoolConfig, RollupRow } from "@berth/domain";
import type { Database } from "../database.ts";
import type { GateBatch } from "../store/types.ts";
import { createPoolStore } from "../store/pool-store.ts";

export interface PoolSeed {
  readonly config: PoolConfig;
  readonly nodes: readonly Node[];
  readonly rollup?: readonly RollupRow[];
}

/** Makes the tenants that the config names and its site when they are missing, then the pool, at seq 1. */
export async function seedPool(db: Database, seed: PoolSeed): Promise<void> {
  const { config, nodes, rollup = [] } = seed;
  const named = [
    config.tenantId,
    ...config.offers.map((o) => o.tenantId),
    ...config.quotas.map((q) => q.tenantId),
  ];
  await seedTenants(db, named);
  await db.slots.run(
    `insert into sites (id, tenant_id, name, kind, region, created_at) values ($1, $2, $1, $3, $4, 0)
     on conflict do nothing`,
    [config.siteId, config.tenantId, config.siteKind, config.region],
  );
  const store = createPoolStore(db);
  const batch: GateBatch = {
    id: `seed-${config.id}`,
    keys: [],
    changes: [
      { kind: "config", before: null, after: config },
      ...nodes.map((after) => ({ kind: "node", before: null, after }) as const),
    ],
    quotaUsed: [],
    rollup,
    events: [],
    nextDueAt: null,
  };
  const write = { gateId: config.id, expectedSeq: 0, batch };
  const outcome = await store.apply(write, await store.now());
  if (!outcome.ok) throw new Error(`seeding ${config.id}: ${outcome.kind}`);
}

export async function seedTenants(
  db: Database,
  tenantIds: readonly string[],
  parentId: string | null = null,
): Promise<void> {
  for (const tenantId of new Set(tenantIds))
    await db.slots.run(
      `insert into tenants (tenant_id, parent_id, name, created_at) values ($1, $2, $1, 0)
       on conflict do nothing`,
      [tenantId, parentId],
    );
}
