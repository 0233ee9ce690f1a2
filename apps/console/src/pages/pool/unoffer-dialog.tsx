/** Withdraw an offer: what stays in use, and what can no longer be booked. */
import type { Berth, OfferView, PoolRef } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { number } from "../../format/gpus.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { unlessMoved } from "../../plan/moved.ts";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { resourceText } from "./resources.ts";

type Plan = OfferView | null;

async function make(berth: Berth, ref: PoolRef, toTenantId: string): Promise<Plan> {
  const { offers } = await berth.pools.get(ref);
  return offers?.find((offer) => offer.tenantId === toTenantId) ?? null;
}

export function UnofferDialog({
  poolId,
  toTenantId,
  onClose,
}: {
  readonly poolId: string;
  readonly toTenantId: string;
  readonly onClose: () => void;
}): ReactNode {
  const { berth, queries, tenantId } = useSession();
  const ref = { tenantId, poolId };
  const plan = useQuery({
    queryKey: [...queries.pools.get.queryKey(ref), "unoffer", toTenantId],
    queryFn: () => make(berth, ref, toTenantId),
    retry: false,
  });
  return (
    <PlanDialog
      title={`Withdraw the offer to ${toTenantId}`}
      onClose={onClose}
      plan={plan}
      verb={(offer) => `Withdraw ${unusedText(offer)}`}
      act={async (shown) => {
        await unlessMoved(shown, () => make(berth, ref, toTenantId));
        return berth.pools.unoffer({ ...ref, toTenantId });
      }}
      done={() => `Withdrawn from ${toTenantId}`}
      refusal={(offer) => (offer === null ? "There is no such offer any more." : null)}
    >
      {(offer) =>
        offer && (
          <>
            <Consequences
              tone="ends"
              heading={`${toTenantId} sees the pool no longer and books nothing new in it`}
              items={offer.quota.map(({ max, resource, used }) => ({
                id: resource,
                what: resourceText(resource),
                why: max === null ? "no limit goes" : `${number(max - (used ?? 0))} unused go`,
              }))}
            />
            <Consequences
              tone="stays"
              heading="Its live bookings run to their end"
              items={offer.quota
                .filter(({ used }) => (used ?? 0) > 0)
                .map(({ resource, used }) => ({
                  id: resource,
                  what: resourceText(resource),
                  why: `${number(used ?? 0)} in use stay`,
                }))}
            />
          </>
        )
      }
    </PlanDialog>
  );
}

/** What the button says goes: the GPUs that are not in use, or the offer where there are none. */
function unusedText(offer: Plan): string {
  const gpu = offer?.quota.find(({ resource }) => resource === "gpu");
  if (!gpu || gpu.max === null) return "the offer";
  return `${number(gpu.max - (gpu.used ?? 0))} unused GPUs`;
}
