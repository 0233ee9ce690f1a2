/** The tenant's reservations, all pages together. */
import type { ListReservationsInput, Reservation, ReservationState } from "@berth/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";

/** States of what is not over. */
export const LIVE_STATES: ReservationState[] = ["scheduled", "active", "preempting"];
/** More is said to be left out. */
export const RESERVATIONS_MAX = 2_000;

export function useReservations(
  ask: Omit<ListReservationsInput, "tenantId" | "cursor" | "limit">,
): UseQueryResult<Reservation[]> {
  const { berth, queries, tenantId } = useSession();
  const input = { tenantId, ...ask, limit: 200 };
  return useQuery({
    queryKey: [...queries.reservations.list.queryKey(input), "all"],
    queryFn: ({ signal }) =>
      berth.reservations.list(input, { signal }).toArray({ limit: RESERVATIONS_MAX }),
    retry: false,
    placeholderData: keepPreviousData,
  });
}
