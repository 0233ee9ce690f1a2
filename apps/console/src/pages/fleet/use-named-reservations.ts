/** Whose reservations a plan speaks of, as far as the caller may know: an operator may look at every tenant's. */
import type { Reservation } from "@berth/client";
import { useQueries } from "@tanstack/react-query";
import { useSession } from "../../app/session.tsx";

/** More are told by their ids alone: each is asked of each tenant that has an offer. */
const ASKED_MAX = 60;

export interface NamedAsk {
  readonly ids: readonly string[];
  /** The pool of the node. */
  readonly poolId: string | null;
  /** Tenants of whom one owns the pool. */
  readonly owners: readonly string[];
}

/** By id; what cannot be looked at is absent. */
export function useNamedReservations({
  ids,
  poolId,
  owners,
}: NamedAsk): ReadonlyMap<string, Reservation> {
  const { queries, who } = useSession();
  const mayLook = who.role === "fleet-admin" && poolId !== null;
  const bookers = useQueries({
    queries: (mayLook ? owners.slice(0, 5) : []).map((tenantId) =>
      queries.pools.get.queryOptions({ tenantId, poolId: poolId ?? "" }),
    ),
    combine: (results) =>
      results.flatMap(({ data }) =>
        data?.owned ? [data.tenantId, ...(data.offers ?? []).map((offer) => offer.tenantId)] : [],
      ),
  });
  const asks = ids.flatMap((reservationId) =>
    bookers.map((tenantId) => ({ tenantId, reservationId })),
  );
  return useQueries({
    queries: asks.slice(0, ASKED_MAX).map((ask) => queries.reservations.get.queryOptions(ask)),
    combine: (results) =>
      new Map(
        results.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const])),
      ),
  });
}
