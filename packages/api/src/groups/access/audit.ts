/** The tenant's audit trail, newest first. */
import type { Handler } from "../../call.ts";
import { type PageOf, decodePageCursor, encodePageCursor } from "../page-cursor.ts";

const PAGE: PageOf = { list: "audit", field: "after", key: /^\d{1,15}$/ };

interface Row {
  readonly id: number;
  readonly at: number;
  readonly principal: string;
  readonly tenantId: string;
  readonly method: string;
  readonly outcome: string;
  readonly target: string | null;
  readonly requestId: string;
  readonly count: number;
}

export const audit: Handler<"access.audit"> = {
  async run({ deps }, { after, limit }, { tenantId }) {
    const before = decodePageCursor(PAGE, after);
    const rows = await deps.db.sql<Row[]>`
      select id, at, principal, tenant_id as "tenantId", method, outcome, target,
        request_id as "requestId", count
      from audit
      where tenant_id = ${tenantId} and id < coalesce(${before}::bigint, 9223372036854775807)
      order by id desc
      limit ${limit + 1}`;
    const entries = rows.slice(0, limit).map((row) => ({ ...row, id: String(row.id) }));
    const last = entries.at(-1);
    const nextCursor = rows.length > limit && last ? encodePageCursor(PAGE, last.id) : null;
    return { entries, nextCursor };
  },
};
