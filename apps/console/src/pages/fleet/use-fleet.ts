/** What the fleet page reads: sites of every tenant that the caller has a role on, and what is set aside. */
import type { Site, UnitReservation } from "@berth/client";
import { useQueries, useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useSession } from "../../app/session.tsx";
import type { NodesById } from "./aside.ts";

/** One request is made a tenant; an operator of more chooses one in the menu. */
const TENANTS_MAX = 50;

export interface Sites {
  readonly sites: readonly Site[];
  readonly isPending: boolean;
  readonly error: Error | null;
  /** Sites of other tenants are left out: there are too many tenants to ask for each. */
  readonly isPartial: boolean;
  readonly refetch: () => void;
}

/** An operator of the fleet owns no machines: their sites are those of the tenants. */
export function useSites(): Sites {
  const { queries, tenantId, tenants, who } = useSession();
  const isOperator = who.role === "fleet-admin" && tenantId === who.tenantId;
  const all =
    isOperator && tenants.length <= TENANTS_MAX ? tenants.map((each) => each.tenantId) : [];
  const asked = [...new Set([tenantId, ...all])];
  return useQueries({
    queries: asked.map((each) => queries.fleet.listSites.queryOptions({ tenantId: each })),
    combine: (results) => ({
      sites: results.flatMap(({ data }) => data?.sites ?? []),
      isPending: results.some(({ isPending }) => isPending),
      error: results.find(({ error }) => error !== null)?.error ?? null,
      isPartial: isOperator && tenants.length > TENANTS_MAX,
      refetch: () => {
        for (const result of results) if (result.error !== null) void result.refetch();
      },
    }),
  });
}

/** More than this is an archive; what is over is left out anyway. */
const SHOWN_MAX = 500;

/** What is set aside now or later, those that need somebody first. */
export function useUnitReservations(): UseQueryResult<UnitReservation[]> {
  const { berth, queries } = useSession();
  return useQuery({
    queryKey: [...queries.unitReservations.list.queryKey({}), "live"],
    queryFn: async ({ signal }) => {
      const list = berth.unitReservations.list({ limit: 200 }, { signal });
      const all = await list.toArray({ limit: SHOWN_MAX });
      const live = all.filter(({ status }) => !["expired", "cancelled"].includes(status));
      return live.toSorted((a, b) => rank(a) - rank(b) || a.startsAt.localeCompare(b.startsAt));
    },
    retry: false,
  });
}

function rank({ releasedUnitIds = [], status }: UnitReservation): number {
  if (status === "needs-review") return 0;
  return releasedUnitIds.length > 0 ? 1 : 2;
}

/** Nodes of other sites that are asked for by themselves; the rest are called by their ids. */
const NAMED_MAX = 40;

/** The nodes here, and those of other sites on which something is set aside: an owner has to be found for each. */
export function useNamedNodes(
  here: NodesById,
  { owners, all }: { readonly owners: readonly string[]; readonly all: readonly UnitReservation[] },
): NodesById {
  const { queries } = useSession();
  const missing = [...new Set(all.map(({ nodeId }) => nodeId))].filter((id) => !here.has(id));
  const asks = missing
    .slice(0, NAMED_MAX)
    .flatMap((nodeId) => owners.slice(0, 5).map((tenantId) => ({ nodeId, tenantId })));
  return useQueries({
    queries: asks.map((ask) => queries.fleet.getNode.queryOptions(ask)),
    combine: (results) =>
      new Map([
        ...here,
        ...results.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])),
      ]),
  });
}
