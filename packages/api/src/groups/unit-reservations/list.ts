/** Unit reservations that the caller has to do with, newest first, in pages. */
import type { Input } from "@berth/contract";
import { poolInScope } from "../../access/scope.ts";
import type { Call, Handler, UnitScope } from "../../call.ts";
import { type PageOf, decodePageCursor, encodePageCursor } from "../page-cursor.ts";
import { noteOrder } from "../pool-order.ts";
import { type UnitReservationRow, gatesWithDueTerms, unitReservationPage } from "./store.ts";
import { unitReservationView } from "./view.ts";

type ListInput = Input<"unitReservations.list">;

const PAGE: PageOf = { list: "unitReservations", field: "cursor", key: /^ursv_[0-9a-z]{26,52}$/ };

export const list: Handler<"unitReservations.list"> = {
  async run(call, input, scope) {
    const after = decodePageCursor(PAGE, input.cursor);

    // 1. Terms that have begun or ended by now are stored so before they are listed and filtered.
    const { db, engine } = call.deps;
    await engine.settle(await gatesWithDueTerms(db, input.nodeId ?? null));
    if (scope.node?.poolId) await noteOrder(call, scope.node.poolId);

    // 2. One page, and one more to know whether any follow.
    const rows = await allowedRows(call, input, { scope, after });
    const page = rows.slice(0, input.limit);
    const last = page.at(-1);
    return {
      reservations: page.map(({ row }) => unitReservationView(row)),
      nextCursor: last && rows.length > page.length ? encodePageCursor(PAGE, last.row.id) : null,
    };
  },
};

/** Refused ones are passed over before pages are cut, so that no page and no cursor tells of them. */
async function allowedRows(
  call: Call,
  { nodeId, status, limit }: ListInput,
  from: { readonly scope: UnitScope; readonly after: string | null },
): Promise<UnitReservationRow[]> {
  const { scope } = from;
  const under = scope.standing.asFleet ? null : call.principal.tenantId;
  const filter = { nodeId: nodeId ?? null, status: status ?? null, under, limit: limit + 1 };
  const allowed: UnitReservationRow[] = [];
  for (let { after } = from; ;) {
    const rows = await unitReservationPage(call.deps.db, { ...filter, after });
    allowed.push(...rows.filter((row) => mayRead(call, scope, row)));
    const last = rows.at(-1);
    if (rows.length <= limit || !last || allowed.length > limit) return allowed;
    after = last.row.id;
  }
}

function mayRead(call: Call, scope: UnitScope, row: UnitReservationRow): boolean {
  const { siteId, tenantId, gateId, poolId, owned, managed } = row;
  if (!poolInScope(call.principal, poolId)) return false;
  const { asFleet } = scope.standing;
  const node = { id: row.row.nodeId, siteId, tenantId, gateId, poolId };
  const standing = { asFleet, owned, managed };
  const resource = { kind: "compute-node", scope, node, standing } as const;
  return asFleet || call.deps.access.decide(call.principal, "compute:units:read", resource);
}
