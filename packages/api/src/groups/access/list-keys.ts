/** The tenant's keys, newest first. */
import type { Handler } from "../../call.ts";
import { type KeyRow, KEY_COLUMNS, keyView } from "./view.ts";

export const listKeys: Handler<"access.listKeys"> = {
  async run({ deps }, _input, { tenantId }) {
    const { sql } = deps.db;
    const rows = await sql<KeyRow[]>`
      select ${sql.unsafe(KEY_COLUMNS)} from api_keys
      where tenant_id = ${tenantId}
      order by created_at desc, id desc`;
    return { keys: rows.map(keyView) };
  },
};
