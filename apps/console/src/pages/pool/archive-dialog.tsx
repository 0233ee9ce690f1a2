/** Archive: whose offers go, what runs on, and that it cannot be taken back. */
import type { Berth, Pool, PoolRef } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { countText } from "../../format/gpus.ts";
import { countsText } from "../../format/units.ts";
import { Consequences } from "../../plan/consequences.tsx";
import { unlessMoved } from "../../plan/moved.ts";
import { PlanDialog } from "../../plan/plan-dialog.tsx";
import { MAIN } from "../overview/counts.ts";
import { usedText } from "./quota-text.ts";

interface Plan {
  readonly offers: NonNullable<Pool["offers"]>;
  readonly archived: boolean;
  /** What is booked now, in words; null: nothing is. */
  readonly running: string | null;
}

async function make(berth: Berth, ref: PoolRef): Promise<Plan> {
  const [pool, { capacity }] = await Promise.all([
    berth.pools.get(ref),
    berth.capacity.byPool(ref),
  ]);
  const booked = capacity.filter(({ resource }) => MAIN.includes(resource));
  const running = countsText(new Map(booked.map((row) => [row.resource, row.allocated])));
  return { offers: pool.offers ?? [], archived: pool.archived, running };
}

export function ArchiveDialog({
  poolId,
  onClose,
}: {
  readonly poolId: string;
  readonly onClose: () => void;
}): ReactNode {
  const { berth, queries, tenantId } = useSession();
  const ref = { tenantId, poolId };
  const plan = useQuery({
    queryKey: [...queries.pools.get.queryKey(ref), "archive"],
    queryFn: () => make(berth, ref),
    retry: false,
  });
  return (
    <PlanDialog
      title="Archive this pool"
      onClose={onClose}
      plan={plan}
      verb={({ offers }) => `Archive and withdraw ${countText(offers.length, "offer")}`}
      act={async (shown) => {
        await unlessMoved(shown, () => make(berth, ref));
        return berth.pools.archive(ref);
      }}
      done={() => "Archived"}
      refusal={({ archived }) => (archived ? "It is archived already." : null)}
    >
      {({ offers, running }) => (
        <>
          <p>It takes no new bookings from then on. This cannot be taken back.</p>
          <Consequences
            tone="ends"
            heading={`${countText(offers.length, "offer")} withdrawn`}
            items={offers.map((offer) => ({
              id: offer.tenantId,
              what: offer.tenantId,
              why: usedText(offer.quota),
            }))}
          />
          <Consequences
            tone="stays"
            heading={
              running === null
                ? "No booking ends: what is booked for later keeps its time"
                : `No booking ends: ${running} booked now stay so to their end`
            }
            items={[]}
          />
        </>
      )}
    </PlanDialog>
  );
}
