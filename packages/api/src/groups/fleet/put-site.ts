/** Makes a site, or changes it: the same tenant and name are the same site. */
import type { Output } from "@berth/contract";
import { derive } from "@berth/engine";
import type { Handler } from "../../call.ts";
import { ApiError, notFound } from "../../errors.ts";
import { changeTenant, lockName } from "../tenant-change.ts";

type Site = Output<"fleet.putSite">;

const COLUMNS = `id, tenant_id as "tenantId", name, kind, region, desired_gen as "desiredGen"`;

export const putSite: Handler<"fleet.putSite"> = {
  async run(call, input, { tenantId }) {
    const { access } = call.deps;
    const id = derive("site", "name", [tenantId, input.name]);
    return changeTenant(call, async (tx) => {
      // 1. The site as it is; of two that make it at once the second finds it.
      await lockName(tx, id);
      const [before] = await tx.q<Site>(`select ${COLUMNS} from sites where id = $1`, [id]);
      if (before && before.tenantId !== tenantId)
        throw notFound("a derived site id of another owner");
      const kind = input.kind ?? before?.kind ?? "custom";

      // 2. Platform sites, and turning one into another kind, are the fleet operator's.
      const platform = kind === "platform" || before?.kind === "platform";
      const fleet = { kind: "compute-fleet" } as const;
      if (platform && !access.decide(call.principal, "compute:nodes:manage", fleet))
        throw new ApiError("FORBIDDEN", { message: "Platform sites are the fleet operator's." });

      // 3. The site as it should be, told when it differs.
      const [after] = await tx.q<Site>(
        `insert into sites (id, tenant_id, name, kind, region, desired_gen, created_at)
         values ($1, $2, $3, $4, $5, 0, $6)
         on conflict (id) do update set kind = excluded.kind, region = excluded.region
         returning ${COLUMNS}`,
        [id, tenantId, input.name, kind, input.region, tx.now],
      );
      if (!after) throw new ApiError("INTERNAL", { internal: "upsert of a site returned nothing" });
      if (before?.kind !== after.kind || before.region !== after.region)
        await tx.tell({
          type: "site.put",
          tenantId,
          views: [{ tenantId, data: { siteId: id, name: after.name, kind, region: after.region } }],
        });
      return after;
    });
  },
};
