/** A new offer, or another size of one that is there. */
import type { OfferView, Pool, QuotaMap } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useSession } from "../../app/session.tsx";
import { BOUNDS, wholeRefusal } from "../../format/whole.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Checkbox, TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import styles from "./pool.module.css";
import { resourceText } from "./resources.ts";

interface Draft {
  readonly toTenantId: string;
  readonly quota: Readonly<Record<string, string>>;
  readonly priority: string;
  readonly includeDescendants: boolean;
}

export interface OfferDialogProps {
  readonly pool: Pool;
  /** Null: a new one. */
  readonly offer: OfferView | null;
  readonly onClose: () => void;
}

export function OfferDialog({ pool, offer, onClose }: OfferDialogProps): ReactNode {
  const [draft, setDraft] = useState(() => draftOf(pool, offer));
  const saving = useOffer(pool, onClose);
  const refusal = refusalOf(draft);
  return (
    <Dialog
      title={offer === null ? "Offer this pool" : `Resize the offer to ${offer.tenantId}`}
      isOpen
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb={offer === null ? "Offer" : "Resize"}
          reason={refusal}
          busy={saving.isPending}
          onAct={() => saving.mutate(draft)}
        />
      }
    >
      <OfferFields draft={draft} offer={offer} onChange={setDraft} />
      {saving.error !== null && <ErrorBox error={saving.error} />}
    </Dialog>
  );
}

/** What a pool's sharing mode is booked by, and what the offer limits already. */
function draftOf({ sharing }: Pool, offer: OfferView | null): Draft {
  const main =
    { mig: "gpu.mig", timeslice: "gpu.slot", mps: "gpu.slot" }[sharing as string] ?? "gpu";
  const rows = (offer?.quota ?? []).map(({ max, resource }) => [resource, String(max ?? "")]);
  return {
    toTenantId: offer?.tenantId ?? "",
    quota: { [main]: "", ...Object.fromEntries(rows) },
    priority: String(offer?.priority ?? 0),
    includeDescendants: offer?.includeDescendants ?? false,
  };
}

function refusalOf({ priority, quota, toTenantId }: Draft): string | null {
  if (toTenantId.trim() === "") return "Say to whom.";
  if (Object.values(quota).every((text) => text.trim() === "")) return "Say how much.";
  if (priority.trim() === "") return "Say the priority: 0 is the usual one.";
  const wrong = [
    ...Object.values(quota).map((text) => wholeRefusal(text, BOUNDS.quota)),
    wholeRefusal(priority, BOUNDS.priority),
  ];
  return wrong.some((each) => each !== null) ? "A field is not as it has to be." : null;
}

function useOffer(pool: Pool, onDone: () => void) {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ includeDescendants, priority, quota, toTenantId }: Draft) => {
      const rows = Object.entries(quota).filter(([, text]) => text.trim() !== "");
      const given: QuotaMap = Object.fromEntries(rows.map(([name, text]) => [name, Number(text)]));
      return berth.pools.offer({
        tenantId,
        poolId: pool.id,
        toTenantId: toTenantId.trim(),
        quota: given,
        includeDescendants,
        priority: Number(priority),
      });
    },
    onSuccess: (_pool, { toTenantId }) => {
      toast.success(`Offered to ${toTenantId}`);
      void client.invalidateQueries();
      onDone();
    },
  });
}

interface OfferFieldsProps {
  readonly draft: Draft;
  readonly offer: OfferView | null;
  onChange(draft: Draft): void;
}

function OfferFields({ draft, offer, onChange }: OfferFieldsProps): ReactNode {
  const { tenants } = useSession();
  const list = useId();
  return (
    <div className={styles["offer"]}>
      {offer === null && (
        <>
          <TextField
            label="To tenant"
            value={draft.toTenantId}
            list={list}
            autoFocus
            onChange={(toTenantId) => onChange({ ...draft, toTenantId })}
          />
          <datalist id={list}>
            {tenants.map(({ tenantId }) => (
              <option key={tenantId} value={tenantId} />
            ))}
          </datalist>
        </>
      )}
      {Object.entries(draft.quota).map(([resource, text]) => (
        <TextField
          key={resource}
          label={`${resourceText(resource)}, at most at one time`}
          type="number"
          min={BOUNDS.quota.least}
          max={BOUNDS.quota.most}
          value={text}
          error={wholeRefusal(text, BOUNDS.quota)}
          hint={usedHint(offer, resource)}
          onChange={(value) => onChange({ ...draft, quota: { ...draft.quota, [resource]: value } })}
        />
      ))}
      <TextField
        label="Priority"
        type="number"
        min={BOUNDS.priority.least}
        max={BOUNDS.priority.most}
        value={draft.priority}
        error={wholeRefusal(draft.priority, BOUNDS.priority)}
        hint="Higher is served before lower"
        onChange={(priority) => onChange({ ...draft, priority })}
      />
      <Checkbox
        label="Tenants below it as well"
        hint="They see and use the pool too"
        checked={draft.includeDescendants}
        onChange={(includeDescendants) => onChange({ ...draft, includeDescendants })}
      />
    </div>
  );
}

function usedHint(offer: OfferView | null, resource: string): string {
  const used = offer?.quota.find((row) => row.resource === resource)?.used ?? 0;
  return used === 0 ? "Nothing of it is in use" : `${used} in use: less than that becomes ${used}`;
}
