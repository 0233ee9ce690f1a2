/** All nodes of a pool or a site, with when their units are taken. */
import type { NodeSchedule } from "@berth/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";

export interface NodesAsk {
  readonly tenantId?: string | undefined;
  readonly poolId?: string | undefined;
  readonly siteId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** False: not asked yet. */
  readonly enabled?: boolean | undefined;
}

/** More would not be looked at, and no page would hold them. */
export const NODES_MAX = 5_000;

/**
 * Pages are put together: a map or a calendar with a part of the nodes would answer "is there room" wrongly. The key
 * begins as `fleet.listNodes`', so live events renew it.
 */
export function useNodes({ enabled = true, ...ask }: NodesAsk): UseQueryResult<NodeSchedule[]> {
  const { berth, queries, tenantId } = useSession();
  const named = Object.fromEntries(Object.entries(ask).filter(([, value]) => value !== undefined));
  const input = { tenantId, ...named, limit: 200 };
  return useQuery({
    queryKey: [...queries.fleet.listNodes.queryKey(input), "all"],
    queryFn: ({ signal }) => berth.fleet.listNodes(input, { signal }).toArray({ limit: NODES_MAX }),
    retry: false,
    enabled,
    // A move of the window keeps the lanes in place while the next ones come.
    placeholderData: keepPreviousData,
  });
}
