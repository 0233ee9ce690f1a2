/** The tenant's reservations, newest first, by page. */
import type { Handler } from "../../call.ts";
import { bookedPools } from "../../visibility.ts";
import { allowedPools } from "../allowed-pools.ts";
import { noteOrder } from "../pool-order.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { memberFacts, reservationPage } from "./store.ts";
import { type Lookup, reservationView } from "./view.ts";

export const list: Handler<"reservations.list"> = {
  async run(call, input, scope) {
    const { db, engine } = call.deps;
    const after = input.cursor === undefined ? null : decodeCursor(input, input.cursor);

    // 1. The pools whose reservations the caller may read; the others' are absent from page and cursor.
    const booked = await bookedPools(call, scope);
    const asked = booked.filter(
      (pool) => input.poolId === undefined || pool.poolId === input.poolId,
    );
    const allowed = allowedPools(call, scope, {
      action: "compute:reservations:read",
      pools: asked,
    });
    const poolIds = allowed.map((pool) => pool.poolId);

    // 2. What is over is shown ended, and the filter on states means the effective one.
    await engine.settle(poolIds);
    if (input.poolId && poolIds[0]) await noteOrder(call, poolIds[0]);

    // 3. The page, and one row more to know whether another follows.
    const rows = await reservationPage(db, {
      tenantId: scope.tenantId,
      poolIds,
      projectId: input.projectId ?? null,
      states: input.state ?? null,
      from: input.from ?? null,
      to: input.to ?? null,
      after,
      limit: input.limit + 1,
    });
    const page = rows.slice(0, input.limit);
    const last = page.at(-1);

    // 4. The members, when asked for.
    let lookup: Lookup | null = null;
    if (input.include?.includes("members")) {
      const facts = await memberFacts(db, page);
      lookup = { node: (id) => facts.nodes.get(id), unit: (id) => facts.units.get(id) };
    }
    return {
      reservations: page.map((row) => reservationView(row, lookup)),
      nextCursor: last && rows.length > page.length ? encodeCursor(input, last) : null,
    };
  },
};
