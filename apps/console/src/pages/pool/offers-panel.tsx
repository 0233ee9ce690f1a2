/** To whom the pool is offered, and how much of that is in use. For its owner. */
import type { OfferView, Pool, QuotaView } from "@berth/client";
import { useState } from "react";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { TerminateDialog } from "../../facts/terminate-dialog.tsx";
import { number } from "../../format/gpus.ts";
import { Bar } from "../../ui/bar.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { OfferDialog } from "./offer-dialog.tsx";
import styles from "./pool.module.css";
import { limitOf } from "./quota-text.ts";
import { resourceText } from "./resources.ts";
import { UnofferDialog } from "./unoffer-dialog.tsx";

type Open =
  | { readonly kind: "offer"; readonly offer: OfferView | null }
  | { readonly kind: "unoffer"; readonly toTenantId: string }
  | { readonly kind: "terminate" };

export function OffersPanel({ pool }: { readonly pool: Pool }): ReactNode {
  const may = useCan();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const offers = pool.offers ?? [];
  return (
    <Panel
      title="Offers"
      lead="Who may book here, up to what at any one time"
      flush
      actions={
        <>
          <Button
            size="small"
            reason={may("reservations.terminate", { pool })}
            onPress={() => setOpen({ kind: "terminate" })}
          >
            Terminate a booking
          </Button>
          <Button
            size="small"
            kind="primary"
            reason={may("pools.offer", { pool })}
            onPress={() => setOpen({ kind: "offer", offer: null })}
          >
            Offer to a tenant
          </Button>
        </>
      }
    >
      {offers.length === 0 ? (
        <div className={styles["inset"]}>
          <Empty title="Offered to nobody">Only the owner books here.</Empty>
        </div>
      ) : (
        <OfferTable pool={pool} offers={offers} onOpen={setOpen} />
      )}
      {open?.kind === "offer" && <OfferDialog pool={pool} offer={open.offer} onClose={close} />}
      {open?.kind === "terminate" && (
        <TerminateDialog reservationId={null} poolId={pool.id} onClose={close} />
      )}
      {open?.kind === "unoffer" && (
        <UnofferDialog poolId={pool.id} toTenantId={open.toTenantId} onClose={close} />
      )}
    </Panel>
  );
}

interface OfferTableProps {
  readonly pool: Pool;
  readonly offers: readonly OfferView[];
  onOpen(open: Open): void;
}

function OfferTable({ pool, offers, onOpen }: OfferTableProps): ReactNode {
  const may = useCan();
  return (
    <Table
      label="Offers of the pool"
      rows={offers}
      rowKey={({ tenantId }) => tenantId}
      columns={[
        {
          id: "tenant",
          name: "Tenant",
          cell: ({ includeDescendants, tenantId }) => (
            <span dir="auto">
              <b>{tenantId}</b>
              {includeDescendants && " and below"}
            </span>
          ),
        },
        {
          id: "use",
          name: "In use",
          cell: ({ quota }) => quota.map((row) => <Use key={row.resource} row={row} />),
        },
        { id: "priority", name: "Priority", end: true, cell: ({ priority }) => priority },
        {
          id: "actions",
          name: "Actions",
          end: true,
          cell: (offer) => (
            <span className={styles["actions"]}>
              <Button
                size="small"
                reason={may("pools.offer", { pool })}
                label={`Resize the offer to ${offer.tenantId}`}
                onPress={() => onOpen({ kind: "offer", offer })}
              >
                Resize
              </Button>
              <Button
                size="small"
                reason={may("pools.unoffer", { pool })}
                label={`Withdraw the offer to ${offer.tenantId}`}
                onPress={() => onOpen({ kind: "unoffer", toTenantId: offer.tenantId })}
              >
                Withdraw
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

function Use({ row }: { readonly row: QuotaView }): ReactNode {
  const { resource, used } = row;
  const max = limitOf(row);
  const inUse = used ?? 0;
  return (
    <div className={styles["use"]}>
      <span>{resourceText(resource)}</span>
      {max !== null && (
        <Bar
          label={resourceText(resource)}
          thin
          total={max}
          parts={[
            { fill: "booked", name: "in use", count: inUse },
            { fill: "free", name: "left", count: Math.max(0, max - inUse) },
          ]}
        />
      )}
      <span>
        {number(inUse)} of {max === null ? "no limit" : number(max)}
      </span>
    </div>
  );
}
