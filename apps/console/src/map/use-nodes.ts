/** All nodes of a pool or a site, with when their units are taken: shown as their pages come (ADR 0216). */
import type { NodeSchedule } from "@berth/client";
import { experimental_streamedQuery, keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";
import type { Asked } from "../ui/states.tsx";
import { NOTHING_READ, withPage } from "./nodes-so-far.ts";
import type { NodesSoFar } from "./nodes-so-far.ts";
import { knownOf, nodePages } from "./node-pages.ts";

export interface NodesAsk {
  readonly tenantId?: string | undefined;
  readonly poolId?: string | undefined;
  readonly siteId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A query's answer with what is there of it. */
export interface Nodes extends Asked<readonly NodeSchedule[]> {
  readonly isFetching: boolean;
  /** How far the reading is; null before the first page. */
  readonly soFar: NodesSoFar | null;
}

/** The key begins as `fleet.listNodes`', so live events renew it. What is whole stays whole while it is renewed. */
export function useNodes(ask: NodesAsk): Nodes {
  const { berth, queries, tenantId } = useSession();
  const named = Object.fromEntries(Object.entries(ask).filter(([, value]) => value !== undefined));
  const input = { tenantId, ...named, limit: 200 };
  const list = queries.fleet.listNodes.queryKey();
  const query = useQuery({
    queryKey: [...queries.fleet.listNodes.queryKey(input), "all"],
    queryFn: experimental_streamedQuery({
      refetchMode: "replace",
      streamFn: ({ client, signal }) =>
        nodePages(
          (given) => berth.fleet.listNodes(given, { signal }).pages(),
          input,
          knownOf(client.getQueriesData<NodesSoFar>({ queryKey: list }), input),
        ),
      reducer: withPage,
      initialValue: NOTHING_READ,
    }),
    retry: false,
    // A move of the window keeps the lanes in place until the first of the next ones come.
    placeholderData: keepPreviousData,
  });
  const soFar = query.data ?? null;
  return {
    data: soFar?.nodes,
    error: query.error,
    isFetching: query.isFetching,
    refetch: query.refetch,
    soFar,
  };
}
