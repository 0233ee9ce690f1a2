/** The tenant's sites, by name. */
import { LIMITS, type Output } from "@berth/contract";
import type { Handler } from "../../call.ts";

type Site = Output<"fleet.listSites">["sites"][number];

export const listSites: Handler<"fleet.listSites"> = {
  async run({ deps }, _input, { tenantId }) {
    const sites = await deps.db.sql<Site[]>`
      select id, tenant_id as "tenantId", name, kind, region, desired_gen as "desiredGen"
      from sites where tenant_id = ${tenantId}
      order by name, id
      limit ${LIMITS.answer}`;
    return { sites: [...sites] };
  },
};
