/** An inventory as something to book in: a pool a GPU model, offered to three tenants with a quota each. */
import type { Berth } from "@berth/client";
import type { ImportDocument } from "../import/document.ts";
import { importNodes } from "../import/run.ts";
import { type Booker, type ModelGroup, OWNER, TENANTS, byModel } from "./plan.ts";

export interface OpenPool {
  readonly id: string;
  readonly group: ModelGroup;
}

/** The owner and its tenants; what each tenant presents, by name. */
export async function makeTenants(admin: Berth): Promise<Readonly<Record<Booker, string>>> {
  await admin.fleet.putTenant({ tenantId: OWNER, name: "The lab" });
  const tokens = await Promise.all(
    TENANTS.map(async (tenantId) => {
      await admin.fleet.putTenant({ tenantId });
      const key = { tenantId, role: "tenant-operator", name: "demo" } as const;
      return (await admin.access.createKey(key)).secret;
    }),
  );
  const [vision = "", speech = "", robotics = ""] = tokens;
  return { vision, speech, robotics };
}

/** Its pools, the largest first. */
export async function openFleet(admin: Berth, document: ImportDocument): Promise<OpenPool[]> {
  const site = { tenantId: OWNER, name: document.site?.name ?? "demo", region: "local" };
  const { id: siteId } = await admin.fleet.putSite(site);
  const pools: OpenPool[] = [];
  for (const group of byModel(document.nodes)) {
    const { id } = await admin.pools.create({
      tenantId: OWNER,
      siteId,
      class: "metal-host",
      gpuModel: group.gpuModel,
      policy: { label: group.model },
    });
    await importNodes(admin, { site: null, nodes: group.nodes }, { site, poolId: id });
    pools.push({ id, group });
  }
  await Promise.all(
    pools.flatMap(({ id: poolId, group }) =>
      TENANTS.map((toTenantId) =>
        admin.pools.offer({ tenantId: OWNER, poolId, toTenantId, quota: { gpu: group.gpus } }),
      ),
    ),
  );
  return pools;
}
