/** The tenants on which the caller has a role: its own and those below; for the fleet's operator all. */
import { LIMITS, type Output } from "@berth/contract";
import type { Handler } from "../../call.ts";
import { TENANT_DEPTH_MAX } from "../../visibility.ts";

type Tenant = Output<"fleet.listTenants">["tenants"][number];

export const listTenants: Handler<"fleet.listTenants"> = {
  async run({ deps, principal }) {
    const everyone = principal.role === "fleet-admin";
    const tenants = await deps.db.sql<Tenant[]>`
      with recursive below(id, depth) as (
        select tenant_id, 0 from tenants where tenant_id = ${principal.tenantId}
        union all
        select t.tenant_id, below.depth + 1 from tenants t join below on t.parent_id = below.id
        where below.depth < ${TENANT_DEPTH_MAX}
      )
      select tenant_id as "tenantId", parent_id as "parentId", name from tenants
      where ${everyone}::boolean or tenant_id in (select id from below)
      order by tenant_id
      limit ${LIMITS.answer}`;
    return { tenants: [...tenants] };
  },
};
