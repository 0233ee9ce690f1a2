/** Set GPUs aside: for whom, for how long, and why. */
import type { CreateUnitReservationInput, NodeSchedule } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { gpusText } from "../../format/gpus.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { WhenField } from "../../ui/when-field.tsx";
import styles from "./fleet.module.css";

interface Draft {
  readonly audience: string;
  readonly managers: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly reason: string;
  readonly contractRef: string;
}

const EMPTY: Draft = {
  audience: "",
  managers: "",
  startsAt: null,
  endsAt: null,
  reason: "",
  contractRef: "",
};

export interface SetAsideDialogProps {
  readonly node: NodeSchedule;
  readonly unitIds: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function SetAsideDialog(props: SetAsideDialogProps): ReactNode {
  const { node, onClose, unitIds } = props;
  const [draft, setDraft] = useState(EMPTY);
  const saving = useSetAside(props);
  const refusal = refusalOf(draft, useNow(1_000));
  const numbers = node.units.filter(({ id }) => unitIds.includes(id)).map(({ index }) => index);
  return (
    <Dialog
      title={`Set GPU ${numbers.join(", ")} of ${node.name} aside`}
      isOpen
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb={`Set ${gpusText(unitIds.length)} aside`}
          reason={refusal}
          busy={saving.isPending}
          onAct={() => saving.mutate(draft)}
        />
      }
    >
      <Fields draft={draft} onChange={setDraft} />
      {saving.error !== null && <ErrorBox error={saving.error} />}
    </Dialog>
  );
}

function useSetAside({ node, onClose, onDone, unitIds }: SetAsideDialogProps) {
  const { berth } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (draft: Draft) =>
      berth.unitReservations.create({ ...inputOf(draft), nodeId: node.id, unitIds: [...unitIds] }),
    onSuccess: () => {
      toast.success(`${gpusText(unitIds.length)} of ${node.name} set aside`);
      void client.invalidateQueries();
      onDone();
      onClose();
    },
  });
}

function namesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

function inputOf(draft: Draft): Omit<CreateUnitReservationInput, "nodeId" | "unitIds"> {
  const { audience, contractRef, endsAt, managers, reason, startsAt } = draft;
  const managingOrgIds = namesOf(managers);
  return {
    allowedOrgIds: namesOf(audience),
    ...(managingOrgIds.length === 0 ? {} : { managingOrgIds }),
    ...(startsAt === null ? {} : { startsAt: new Date(startsAt).toISOString() }),
    ...(endsAt === null ? {} : { endsAt: new Date(endsAt).toISOString() }),
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(contractRef.trim() === "" ? {} : { contractRef: contractRef.trim() }),
  };
}

function refusalOf({ audience, endsAt, startsAt }: Draft, now: number): string | null {
  if (namesOf(audience).length === 0) return "Say for which tenants.";
  if (namesOf(audience).length > 64) return "For at most 64 tenants.";
  if (startRefusal(startsAt, now) !== null) return "The term begins in time to come, or now.";
  return endRefusal({ endsAt, startsAt }, now) === null ? null : "The term ends after it begins.";
}

const NO_DATE = "There is no such date.";
/** A minute of patience, as the server has: whoever types this minute means now. */
const LATE_MS = 60_000;

/** Why a term may not begin then; null: it may. */
export function startRefusal(startsAt: number | null, now: number): string | null {
  if (Number.isNaN(startsAt)) return NO_DATE;
  return startsAt !== null && startsAt < now - LATE_MS ? "It is past. Empty: now." : null;
}

/** Why a term may not end then; null: it may. */
export function endRefusal(
  { endsAt, startsAt }: Pick<Draft, "endsAt" | "startsAt">,
  now: number,
): string | null {
  if (endsAt === null) return null;
  if (Number.isNaN(endsAt)) return NO_DATE;
  if (endsAt <= now) return "It is past.";
  return endsAt <= (startsAt ?? now) ? "It ends after it begins." : null;
}

interface FieldsProps {
  readonly draft: Draft;
  onChange(draft: Draft): void;
}

function Fields({ draft, onChange }: FieldsProps): ReactNode {
  const { tenants } = useSession();
  const now = useNow(1_000);
  const list = useId();
  return (
    <>
      <TextField
        label="For tenants"
        value={draft.audience}
        list={list}
        autoFocus
        hint="Names, apart by commas. They book with an offer and a quota, as ever."
        onChange={(audience) => onChange({ ...draft, audience })}
      />
      <datalist id={list}>
        {tenants.map(({ tenantId }) => (
          <option key={tenantId} value={tenantId} />
        ))}
      </datalist>
      <TextField
        label="Managed by"
        value={draft.managers}
        hint="Tenants that may sell and take back as well; may be empty"
        onChange={(managers) => onChange({ ...draft, managers })}
      />
      <div className={styles["pair"]}>
        <WhenField
          label="Starts"
          value={draft.startsAt}
          hint="Empty: now"
          error={startRefusal(draft.startsAt, now)}
          onChange={(startsAt) => onChange({ ...draft, startsAt })}
        />
        <WhenField
          label="Ends"
          value={draft.endsAt}
          hint="Empty: until it is ended"
          error={endRefusal(draft, now)}
          onChange={(endsAt) => onChange({ ...draft, endsAt })}
        />
        <TextField
          label="Reason"
          value={draft.reason}
          maxLength={256}
          onChange={(reason) => onChange({ ...draft, reason })}
        />
        <TextField
          label="Contract"
          value={draft.contractRef}
          maxLength={256}
          onChange={(contractRef) => onChange({ ...draft, contractRef })}
        />
      </div>
    </>
  );
}
