/** What the facts panel reads. */
import type { Reservation } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";

/** One reservation of the tenant's. */
export function useReservation(reservationId: string): UseQueryResult<Reservation> {
  const { queries, tenantId } = useSession();
  return useQuery(queries.reservations.get.queryOptions({ tenantId, reservationId }));
}
