/** Withdraw an offer: what stays in use, and what can no longer be booked. */
import type { Berth, OfferView, PoolRef, QuotaView } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { number } from "../../format/gpus.ts";
import { countsText } from "../../format/units.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { unlessMoved } from "../../plan/moved.ts";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { MAIN } from "../overview/counts.ts";
import { limitOf } from "./quota-text.ts";
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
                why: unusedOf({ max, used }),
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

/** What the button says goes: what of its limits is not in use, or the offer where nothing is limited. */
function unusedText(offer: Plan): string {
  const unused = (offer?.quota ?? []).flatMap((row): [string, number][] => {
    const max = limitOf(row);
    return max === null || !MAIN.includes(row.resource)
      ? []
      : [[row.resource, Math.max(0, max - (row.used ?? 0))]];
  });
  const said = countsText(new Map(unused));
  return said === null ? "the offer" : `${said} not in use`;
}

function unusedOf({ max, used }: Pick<QuotaView, "max" | "used">): string {
  const limit = limitOf({ max });
  return limit === null ? "no limit goes" : `${number(Math.max(0, limit - (used ?? 0)))} unused go`;
}
