/** Book the same again: the booking form, filled in from a reservation. */
import type { Reservation } from "@berth/client";
import { useNavigate } from "@tanstack/react-router";
import { durationInput } from "../format/duration.ts";
import type { BookSearch, TogetherChoice } from "../pages/book/search.ts";
import { gpusOf } from "./describe.ts";

/** The form for the same shape and length; it begins now, as what was is past or taken. */
export function repeatSearch(reservation: Reservation): BookSearch {
  const gpus = gpusOf(reservation);
  const { end, poolId, spot, start } = reservation;
  return {
    pool: poolId,
    for: durationInput(end - start),
    ...(gpus === null ? {} : { gpus, together: togetherOf(reservation) }),
    ...(spot ? { spot } : {}),
  };
}

function togetherOf({ gang, topology }: Reservation): TogetherChoice {
  if (gang?.topologyKey === "rack" || gang?.topologyKey === "zone") return gang.topologyKey;
  if (topology === "nvlink-all") return "nvlink";
  return gang === null ? "node" : "any";
}

/** Goes to the filled form. */
export function useRepeat(reservation: Reservation): () => void {
  const navigate = useNavigate();
  return () =>
    void navigate({
      to: "/book",
      search: ({ tenant }) => ({
        ...(tenant === undefined ? {} : { tenant }),
        ...repeatSearch(reservation),
      }),
    });
}
