/** `berth pools`. */
import type { Pool } from "@berth/client";
import { type OutputOptions, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { sayNoPools } from "../words.ts";

/** Of the row for GPUs, or the first one: most pools have one row. */
const quotaOf = ({ quota }: Pool) => quota.find(({ resource }) => resource === "gpu") ?? quota[0];

/** The platform's "as many as you like". */
const UNLIMITED = 2_147_483_647;

const COLUMNS: readonly Column<Pool>[] = [
  { name: "label", of: ({ label }) => label },
  { name: "model", of: ({ gpuModel }) => gpuModel },
  { name: "region", of: ({ region }) => region },
  { name: "sharing", of: ({ sharing }) => sharing },
  { name: "class", of: (pool) => pool.class, isWide: true },
  { name: "quota", of: (pool) => words(quotaOf(pool)) },
  { name: "owned", of: ({ owned }) => owned },
  { name: "archived", of: ({ archived }) => archived, isWide: true },
  { name: "site", of: ({ siteId }) => siteId, isWide: true },
  { name: "id", of: ({ id }) => id },
];

function words(row: Pool["quota"][number] | undefined): string | null {
  if (!row) return null;
  const { resource, max, used, remaining } = row;
  if (max === UNLIMITED) return `${used ?? 0} ${resource}, no limit`;
  if (max !== null) return `${used ?? 0} of ${max} ${resource}`;
  return remaining === null ? null : `${remaining} ${resource} left`;
}

export async function pools(
  { io, onServer }: Call,
  options: OutputOptions & TenantOption,
): Promise<void> {
  const { berth, url, tenantId } = await openSession(io, options);
  onServer(url);
  const whose = await tenantId();
  const data = await berth.pools.list({ tenantId: whose });
  await print(io, options, {
    data,
    entries: data.pools,
    lines: ({ main }) => main(data.pools, COLUMNS),
  });
  if (data.pools.length === 0) sayNoPools(io, whose);
}
