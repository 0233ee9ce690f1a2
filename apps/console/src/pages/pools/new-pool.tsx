/** A new pool on a site of the tenant's; its policy is checked as it is typed. */
import type { CreatePoolInput, PoolClass, SharingMode, Site } from "@berth/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useSession } from "../../app/session.tsx";
import { faultsAt } from "../../format/fault.ts";
import { nounText } from "../../format/units.ts";
import { BOUNDS, wholeRefusal } from "../../format/whole.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Empty, ErrorBox, Loaded } from "../../ui/states.tsx";
import { draftOf, errorsOf, isSlots, policyOf } from "../policy/draft.ts";
import type { Draft } from "../policy/draft.ts";
import { PolicyFields, refusedFields } from "../policy/policy-fields.tsx";
import styles from "./pools.module.css";

interface PoolDraft {
  readonly siteId: string;
  readonly class: PoolClass;
  readonly sharing: SharingMode;
  readonly gpuModel: string;
  /** Of what its sharing mode is booked by; empty: the server's own. */
  readonly ownQuota: string;
  readonly providerAccountId: string;
  readonly policy: Draft;
}

const CLASSES: readonly PoolClass[] = ["metal-host", "metal-dedicated", "vps-host", "provider"];
const MODES: readonly SharingMode[] = ["exclusive", "mig", "timeslice", "mps"];

export function NewPool({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { queries, tenantId } = useSession();
  const query = useQuery(queries.fleet.listSites.queryOptions({ tenantId }));
  return (
    <Loaded query={query} what="sites">
      {({ sites }) =>
        sites[0] === undefined ? (
          <Dialog title="New pool" isOpen onClose={onClose}>
            <Empty title={`${tenantId} has no sites`}>
              A pool is a part of a site&apos;s machines: register a site first, with fleet.putSite
              or berth import.
            </Empty>
          </Dialog>
        ) : (
          <Form sites={sites} first={sites[0]} onClose={onClose} />
        )
      }
    </Loaded>
  );
}

/** Of the API, and shown by this form outside the policy. */
const POOL_FIELDS = ["gpuModel", "ownerQuota", "providerAccountId"];

interface FormProps {
  readonly sites: readonly Site[];
  readonly first: Site;
  readonly onClose: () => void;
}

function Form({ sites, first, onClose }: FormProps): ReactNode {
  const [draft, setDraft] = useState<PoolDraft>({
    siteId: first.id,
    class: "metal-host",
    sharing: "exclusive",
    gpuModel: "",
    ownQuota: "",
    providerAccountId: "",
    policy: draftOf({}),
  });
  const creating = useCreate();
  const refusal = refusalOf(draft);
  const refused = faultsAt(creating.error, POOL_FIELDS);
  const isElsewhere =
    creating.error !== null &&
    Object.keys(refusedFields(creating.error)).length === 0 &&
    Object.keys(refused).length === 0;
  const change = (next: Partial<PoolDraft>): void => {
    creating.reset();
    setDraft({ ...draft, ...next });
  };
  return (
    <Dialog
      title="New pool"
      isOpen
      wide
      onClose={onClose}
      foot={
        <DialogFoot
          onCancel={onClose}
          verb="Make the pool"
          reason={refusal}
          busy={creating.isPending}
          onAct={() => creating.mutate(draft)}
        />
      }
    >
      <PoolFields draft={draft} sites={sites} refused={refused} onChange={change} />
      <h3>Policy</h3>
      <PolicyFields
        draft={draft.policy}
        sharing={draft.sharing}
        onChange={(policy) => change({ policy })}
        refused={creating.error}
      />
      {isElsewhere && <ErrorBox error={creating.error} />}
    </Dialog>
  );
}

function refusalOf({ class: kind, ownQuota, policy, providerAccountId, sharing }: PoolDraft) {
  if (wholeRefusal(ownQuota, BOUNDS.quota) !== null) return "The quota is not as it has to be.";
  if (kind === "provider" && providerAccountId.trim() === "")
    return "A provider pool names the account that its machines are rented with.";
  return Object.keys(errorsOf(policy, sharing)).length === 0
    ? null
    : "A field of the policy is not as it has to be.";
}

function useCreate() {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (draft: PoolDraft) => berth.pools.create({ tenantId, ...inputOf(draft) }),
    onSuccess: ({ id }) => {
      toast.success("The pool is made");
      void client.invalidateQueries();
      void navigate({
        to: "/pools/$poolId",
        params: { poolId: id },
        search: ({ tenant }) => (tenant === undefined ? {} : { tenant }),
      });
    },
  });
}

function inputOf(draft: PoolDraft): Omit<CreatePoolInput, "tenantId"> {
  const { class: kind, gpuModel, ownQuota, providerAccountId, sharing, siteId } = draft;
  return {
    siteId,
    class: kind,
    sharing,
    policy: policyOf(draft.policy, sharing),
    ...(gpuModel.trim() === "" ? {} : { gpuModel: gpuModel.trim() }),
    ...(ownQuota.trim() === "" ? {} : { ownerQuota: { [booked(sharing)]: Number(ownQuota) } }),
    ...(kind === "provider" ? { providerAccountId, agent: "none" as const } : {}),
  };
}

function booked(sharing: SharingMode): string {
  if (sharing === "mig") return "gpu.mig";
  return isSlots(sharing) ? "gpu.slot" : "gpu";
}

interface PoolFieldsProps {
  readonly draft: PoolDraft;
  readonly sites: readonly Site[];
  /** What the server refused, by field. */
  readonly refused: Readonly<Record<string, string>>;
  onChange(next: Partial<PoolDraft>): void;
}

function PoolFields({ draft, sites, refused, onChange }: PoolFieldsProps): ReactNode {
  return (
    <div className={styles["fields"]}>
      <Select
        label="Site"
        value={draft.siteId}
        choices={sites.map(({ id, name }) => ({ value: id, name }))}
        onChange={(siteId) => onChange({ siteId })}
      />
      <Select
        label="Machines"
        value={draft.class}
        choices={CLASSES.map((value) => ({ value, name: value }))}
        onChange={(next) => onChange({ class: next })}
      />
      <Select
        label="Sharing"
        value={draft.sharing}
        hint="For good: it cannot be changed later"
        choices={MODES.map((value) => ({ value, name: value }))}
        onChange={(sharing) => onChange({ sharing })}
      />
      <TextField
        label="GPU model"
        value={draft.gpuModel}
        placeholder="NVIDIA H100 80GB HBM3"
        error={refused["gpuModel"]}
        onChange={(gpuModel) => onChange({ gpuModel })}
      />
      <TextField
        label="Own quota"
        type="number"
        min={BOUNDS.quota.least}
        max={BOUNDS.quota.most}
        value={draft.ownQuota}
        error={wholeRefusal(draft.ownQuota, BOUNDS.quota) ?? refused["ownerQuota"]}
        hint={`Of ${nounText(booked(draft.sharing))}, for the owner's own bookings`}
        onChange={(ownQuota) => onChange({ ownQuota })}
      />
      {draft.class === "provider" && (
        <TextField
          label="Provider account"
          value={draft.providerAccountId}
          error={refused["providerAccountId"]}
          onChange={(providerAccountId) => onChange({ providerAccountId })}
        />
      )}
    </div>
  );
}
