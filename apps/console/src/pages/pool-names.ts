/** What pools are called: by label, else by model, else by the end of their id. */
import type { Pool } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";
import { shortId } from "../facts/describe.ts";
import { modelText } from "../format/gpus.ts";

export function poolName({ gpuModel, id, label }: Pick<Pool, "gpuModel" | "id" | "label">): string {
  if (label !== null && label !== "") return label;
  return gpuModel === null ? shortId(id) : `${modelText(gpuModel)} ${shortId(id)}`;
}

export interface PoolNames {
  readonly pools: readonly Pool[];
  nameOf(poolId: string): string;
}

/** Pools that are not known, or not yet, are called by their id. */
export function usePoolNames(): PoolNames {
  const { queries, tenantId } = useSession();
  const { data } = useQuery(queries.pools.list.queryOptions({ tenantId }));
  const pools = data?.pools ?? [];
  return {
    pools,
    nameOf: (poolId) => {
      const pool = pools.find(({ id }) => id === poolId);
      return pool ? poolName(pool) : shortId(poolId);
    },
  };
}
