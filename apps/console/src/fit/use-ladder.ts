/** The ladder's answers: one quote for all cells, asked again when an event touches bookings. */
import type { QuotedShape } from "@berth/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { useSession } from "../app/session.tsx";
import { ladderSteps } from "./ladder.ts";
import type { Step } from "./ladder.ts";

export interface Rung {
  readonly step: Step;
  /** Null for what cannot be asked for. */
  readonly answer: QuotedShape | null;
}

export interface LadderAsk {
  readonly poolId: string;
  readonly perNode: number;
  /** As the API takes it: `1h`, `7d`. */
  readonly duration: string;
}

export function useLadder({ poolId, perNode, duration }: LadderAsk): UseQueryResult<Rung[]> {
  const { queries, tenantId } = useSession();
  const steps = useMemo(() => ladderSteps(perNode), [perNode]);
  const alternatives = steps.flatMap(({ shape }) => (shape === null ? [] : [shape]));
  return useQuery({
    ...queries.reservations.quote.queryOptions({
      tenantId,
      poolId,
      // The request itself is the smallest; the cells are laid over it, and a gang could not be laid away.
      devices: [{ class: "gpu", count: 1 }],
      duration,
      alternatives,
    }),
    placeholderData: keepPreviousData,
    select: (quote) => {
      const answers = quote.alternatives.values();
      return steps.map((step) => ({
        step,
        answer: step.shape === null ? null : (answers.next().value ?? null),
      }));
    },
  });
}
