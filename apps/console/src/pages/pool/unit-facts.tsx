/** What is known of a GPU on the map that the tenant in view has not booked: whose it is, or why that is not told. */
import type { Pool, Reservation } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { useZone } from "../../app/zone.tsx";
import { EndById, OfOther } from "../../facts/elsewhere.tsx";
import { isUnseen, useAsked } from "../../facts/use-found.ts";
import type { Cell, CellRow } from "../../map/cells.ts";
import { cellName } from "../../map/words.ts";
import { Button } from "../../ui/button.tsx";
import { LIVE_STATES, RESERVATIONS_MAX } from "../use-reservations.ts";
import styles from "./pool.module.css";

export interface UnitFactsProps {
  readonly pool: Pool;
  readonly cell: Cell;
  readonly row: CellRow;
  readonly onClose: () => void;
}

export function UnitFacts({ pool, cell, row, onClose }: UnitFactsProps): ReactNode {
  const { zone } = useZone();
  const isBooked = [cell, ...cell.parts].some(({ state }) => state === "booked");
  return (
    <section className={styles["unit"]} aria-label="The chosen GPU">
      <p role="status">
        <b>{cellName(cell, row, zone)}</b>
      </p>
      {isBooked && <Booked pool={pool} cell={cell} />}
      <Button kind="quiet" size="icon" label="Close the GPU's facts" onPress={onClose}>
        <span aria-hidden="true">✕</span>
      </Button>
    </section>
  );
}

function Booked({ pool, cell }: Pick<UnitFactsProps, "pool" | "cell">): ReactNode {
  const { data } = useBookingsOf(pool.id, cell);
  if (data !== undefined && data.length > 0)
    return data.map((reservation) => <OfOther key={reservation.id} reservation={reservation} />);
  return (
    <>
      <p>
        {pool.owned
          ? "Another tenant's. Which one, and its booking's id, is told to that tenant alone, to the owner of the pool neither; with the id you may end it."
          : "Another tenant's: no more than its time is told."}
      </p>
      <EndById reservationId={null} poolId={pool.id} />
    </>
  );
}

/** Bookings of other tenants that the caller may read which have the GPU, or a part of it, now. */
function useBookingsOf(poolId: string, { parts, unitId }: Cell) {
  const { berth, queries, tenantId } = useSession();
  const asked = useAsked().filter((each) => each !== tenantId);
  return useQuery({
    queryKey: [...queries.reservations.list.queryKey(), "at", poolId, asked.join()],
    queryFn: async ({ signal }): Promise<Reservation[]> => {
      const given = { poolId, state: LIVE_STATES, include: ["members" as const], limit: 200 };
      const lists = asked.map((each) =>
        berth.reservations
          .list({ ...given, tenantId: each }, { signal })
          .toArray({ limit: RESERVATIONS_MAX })
          .catch((error: unknown) => {
            if (isUnseen(error)) return [];
            throw error;
          }),
      );
      return (await Promise.all(lists)).flat();
    },
    select: (all) => {
      const units = new Set([unitId, ...parts.map((part) => part.unitId)]);
      const now = Date.now();
      return all.filter(
        ({ members, start }) =>
          start <= now &&
          (members ?? []).some(({ atoms }) => atoms.some((atom) => units.has(atom.unitId))),
      );
    },
    enabled: asked.length > 0,
    retry: false,
  });
}
