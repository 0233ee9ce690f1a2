/** Makes a tenant, or changes its name and its place in the tree. */
import type { Output } from "@berth/contract";
import type { TenantId } from "@berth/domain";
import type { Handler } from "../../call.ts";
import { ApiError, invalidInput } from "../../errors.ts";
import { TENANT_DEPTH_MAX } from "../../visibility.ts";
import { type TenantTx, changeTenant } from "../tenant-change.ts";

type Tenant = Output<"fleet.putTenant">;

const COLUMNS = `tenant_id as "tenantId", parent_id as "parentId", name`;

export const putTenant: Handler<"fleet.putTenant"> = {
  run(call, { tenantId, parentId, name }) {
    return changeTenant(call, async (tx) => {
      // 1. One change of the tree at a time: two moves could close a circle that neither sees.
      await tx.q("select pg_advisory_xact_lock(hashtext('berth.tenants'))");

      // 2. The place asked for is in the tree and not below the tenant itself.
      const [before] = await tx.q<Tenant>(`select ${COLUMNS} from tenants where tenant_id = $1`, [
        tenantId,
      ]);
      const parent = parentId === undefined ? (before?.parentId ?? null) : parentId;
      if (parent !== null && parent !== before?.parentId) await checkPlace(tx, tenantId, parent);

      // 3. The tenant as it should be, told when it differs.
      const [after] = await tx.q<Tenant>(
        `insert into tenants (tenant_id, parent_id, name, created_at) values ($1, $2, $3, $4)
         on conflict (tenant_id) do update set parent_id = excluded.parent_id, name = excluded.name
         returning ${COLUMNS}`,
        [tenantId, parent, name ?? before?.name ?? null, tx.now],
      );
      if (!after)
        throw new ApiError("INTERNAL", { internal: "upsert of a tenant returned nothing" });
      const moved = before !== undefined && before.parentId !== after.parentId;
      if (!before || moved || before.name !== after.name)
        await tx.tell({
          type: moved ? "tenant.moved" : "tenant.put",
          tenantId,
          views: [{ tenantId, data: { ...after } }],
        });
      return after;
    });
  },
};

/** Walks up from the parent: it exists, it is not below the tenant, the tree stays shallow. */
async function checkPlace(tx: TenantTx, tenantId: TenantId, parentId: TenantId): Promise<void> {
  const up = await tx.q<{ id: string }>(
    `with recursive up(id, parent, depth) as (
       select tenant_id, parent_id, 1 from tenants where tenant_id = $1
       union all
       select t.tenant_id, t.parent_id, up.depth + 1
       from tenants t join up on t.tenant_id = up.parent where up.depth <= $2::int
     )
     select id from up order by depth`,
    [parentId, TENANT_DEPTH_MAX],
  );
  if (up.length === 0) throw invalidInput(["parentId"], "there is no such tenant");
  if (up.some(({ id }) => id === tenantId))
    throw invalidInput(
      ["parentId"],
      "is the tenant itself or below it: the tree would close a circle",
    );
  const below = await heightBelow(tx, tenantId);
  if (up.length + below >= TENANT_DEPTH_MAX)
    throw invalidInput(
      ["parentId"],
      `the tree would be more than ${TENANT_DEPTH_MAX} tenants deep`,
    );
}

/** Levels under the tenant; 0 for one that has none below it. */
async function heightBelow(tx: TenantTx, tenantId: TenantId): Promise<number> {
  const [row] = await tx.q<{ height: number }>(
    `with recursive down(id, depth) as (
       select $1::text, 0
       union all
       select t.tenant_id, down.depth + 1
       from tenants t join down on t.parent_id = down.id where down.depth <= $2::int
     )
     select max(depth)::int as height from down`,
    [tenantId, TENANT_DEPTH_MAX],
  );
  return row?.height ?? 0;
}
