/** Book the same again: the booking form, filled in from a reservation. */
import type { Reservation } from "@berth/client";
import { useNavigate } from "@tanstack/react-router";
import { durationInput } from "../format/duration.ts";
import type { BookSearch, TogetherChoice } from "../pages/book/search.ts";
import { countOf } from "./describe.ts";

/** What the form counts, by the pool's sharing. */
const BOOKED = ["gpu", "gpu.mig", "gpu.slot"];

/** The form for the same shape and length; it begins now, as what was is past or taken. */
export function repeatSearch(reservation: Reservation): BookSearch {
  const kind = BOOKED.find((each) => countOf(reservation, each) > 0);
  const { end, poolId, spot, start } = reservation;
  return {
    pool: poolId,
    for: durationInput(end - start),
    ...(kind === undefined ? {} : { gpus: countOf(reservation, kind) }),
    ...(kind === "gpu" ? { together: togetherOf(reservation) } : {}),
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
