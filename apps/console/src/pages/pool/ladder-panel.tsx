/** The fit ladder of this pool: as large as its nodes are. */
import type { Pool } from "@berth/client";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { FitLadder } from "../../fit/fit-ladder.tsx";
import { useNodes } from "../../map/use-nodes.ts";
import { useSetSearch } from "../use-set-search.ts";
import type { PoolSearch } from "./search.ts";

/** What GPU servers have, until the pool's own are known, and where it has none. */
const PER_NODE = 8;

/** Nothing where whole GPUs cannot be booked. */
export function LadderPanel({ pool }: { readonly pool: Pool }): ReactNode {
  const { ladder = "1d" } = useSearch({ from: "/pools/$poolId" });
  const set = useSetSearch<PoolSearch>();
  const { data } = useNodes({ poolId: pool.id });
  if (pool.sharing !== "exclusive" || pool.archived) return null;
  const sizes = (data ?? []).map(
    ({ units }) => units.filter((unit) => unit.class === "gpu").length,
  );
  return (
    <FitLadder
      poolId={pool.id}
      perNode={Math.max(0, ...sizes) || PER_NODE}
      duration={ladder}
      onDuration={(next) => set({ ladder: next === "1d" ? undefined : next })}
    />
  );
}
