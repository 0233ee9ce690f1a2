/** A booking by its id, of whichever tenant that the caller may read. */
import { isBerthError } from "@berth/client";
import type { Reservation } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useSession } from "../app/session.tsx";

/** Tenants that are asked; an operator of more chooses one in the menu. */
const TENANTS_MAX = 50;

/** The booking, where the caller may read it; null: it is a tenant's of whom the caller may know nothing. */
export interface Found {
  readonly found: Reservation | null;
}

/** Tenants that the caller may look for a booking at, the one in view first. */
export function useAsked(): readonly string[] {
  const { tenantId, tenants } = useSession();
  const others = tenants.slice(0, TENANTS_MAX).map((each) => each.tenantId);
  return [...new Set([tenantId, ...others])];
}

/** Whether a text is the id of a booking. */
export function isReservationId(text: string): boolean {
  return /^rsv_[0-9a-z]{26,52}$/.test(text);
}

/** The key begins as the reservation's own, so that whatever renews that renews what is made of it. */
export function useFound(reservationId: string): UseQueryResult<Found> {
  const { berth, queries, tenantId } = useSession();
  const asked = useAsked();
  return useQuery({
    queryKey: [
      ...queries.reservations.get.queryKey({ tenantId, reservationId }),
      "of any tenant",
      asked.length,
    ],
    queryFn: async ({ signal }): Promise<Found> => {
      const answers = await Promise.all(
        asked.map((each) =>
          berth.reservations.get({ tenantId: each, reservationId }, { signal }).safe(),
        ),
      );
      const found = answers.find(({ ok }) => ok)?.data ?? null;
      const failed = answers.find(({ error }) => error !== null && !isUnseen(error))?.error;
      if (found === null && failed) throw failed;
      return { found };
    },
    enabled: isReservationId(reservationId),
    retry: false,
  });
}

/** What is hidden from the caller, and not broken. */
export function isUnseen(error: unknown): boolean {
  return isBerthError(error, "NOT_FOUND") || isBerthError(error, "FORBIDDEN");
}
