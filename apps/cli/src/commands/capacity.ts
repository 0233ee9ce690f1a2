/** `berth capacity`: what is free, booked and down. */
import type { CapacityRow } from "@berth/client";
import { type OutputOptions, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { type Session, type TenantOption, openSession } from "../session.ts";
import type { Call } from "../spec.ts";
import { poolName, poolOf, sayNoPools } from "../words.ts";

export interface CapacityOptions extends OutputOptions, TenantOption {
  readonly pool?: string;
  readonly all?: boolean;
}

interface Line {
  readonly pool: string;
  readonly poolId: string;
  readonly model: string | null;
  readonly row: CapacityRow;
}

const down = ({ provisioning, unhealthy, maintenance, unreachable }: CapacityRow) =>
  provisioning + unhealthy + maintenance + unreachable;

const COLUMNS: readonly Column<Line>[] = [
  { name: "pool", of: ({ pool }) => pool },
  { name: "model", of: ({ model }) => model },
  { name: "resource", of: ({ row }) => row.resource },
  { name: "free", align: "right", of: ({ row }) => row.available },
  { name: "booked", align: "right", of: ({ row }) => row.allocated },
  { name: "later", align: "right", of: ({ row }) => row.reserved },
  { name: "down", align: "right", of: ({ row }) => down(row) },
  { name: "total", align: "right", of: ({ row }) => row.total },
  { name: "id", of: ({ poolId }) => poolId },
];

export async function capacity({ io, onServer }: Call, options: CapacityOptions): Promise<void> {
  const session = await openSession(io, options);
  onServer(session.url);
  const { data, entries } = await ask(session, options.pool);
  const isShown = ({ resource }: CapacityRow) => options.all || resource.startsWith("gpu");
  const labels =
    options.output === undefined || options.output === "table" ? await named(session) : null;
  const lines = entries.flatMap(({ poolId, gpuModel, capacity: rows }) =>
    rows.filter(isShown).map((row): Line => {
      const { pool = poolId, model = null } = labels?.get(poolId) ?? {};
      return { pool, poolId, model: gpuModel ?? model, row };
    }),
  );
  await print(io, options, { data, entries, lines: ({ main }) => main(lines, COLUMNS) });
  if (entries.length === 0) sayNoPools(io, await session.tenantId());
}

interface Entry {
  readonly poolId: string;
  readonly gpuModel?: string | null;
  readonly capacity: readonly CapacityRow[];
}

async function ask(
  session: Session,
  pool: string | undefined,
): Promise<{ readonly data: unknown; readonly entries: readonly Entry[] }> {
  const { berth } = session;
  const tenantId = await session.tenantId();
  if (pool === undefined) {
    const data = await berth.capacity.summary({ tenantId });
    return { data, entries: data.pools };
  }
  const data = await berth.capacity.byPool({ tenantId, poolId: await poolOf(session, pool) });
  return { data, entries: [data] };
}

/** Names are for people only: the answer has ids. */
async function named({ berth, tenantId }: Session) {
  const { pools } = await berth.pools.list({ tenantId: await tenantId() });
  return new Map(pools.map((pool) => [pool.id, { pool: poolName(pool), model: pool.gpuModel }]));
}
