/** The pool's policy: read by whoever sees the pool, edited by its owner. */
import type { Pool } from "@berth/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReactNode } from "react";
import { toast } from "../../ui/toast.ts";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { durationText } from "../../format/duration.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/page.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { draftOf, errorsOf, policyOf } from "../policy/draft.ts";
import { PolicyFields, refusedFields } from "../policy/policy-fields.tsx";
import styles from "./pool.module.css";

export function PolicyPanel({ pool }: { readonly pool: Pool }): ReactNode {
  const may = useCan();
  const [isEditing, setEditing] = useState(false);
  return (
    <Panel
      title="Policy"
      lead={`Version ${pool.version}`}
      actions={
        !isEditing && (
          <Button
            size="small"
            reason={may("pools.update", { pool })}
            onPress={() => setEditing(true)}
          >
            Edit policy
          </Button>
        )
      }
    >
      {isEditing ? (
        <PolicyForm pool={pool} onDone={() => setEditing(false)} />
      ) : (
        <PolicyFacts pool={pool} />
      )}
    </Panel>
  );
}

function PolicyFacts({ pool: { policy, sharing } }: { readonly pool: Pool }): ReactNode {
  const length = (given: string | number | undefined): string =>
    typeof given === "number" ? durationText(given) : (given ?? "366 d");
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Placement", policy.placement ?? "pack"],
    ["Longest booking", length(policy.maxDuration)],
    ["Starts at most ahead", length(policy.horizon)],
    ["Spot notice", durationText((policy.spot?.noticeSeconds ?? 120) * 1_000)],
    ["Single tenant", policy.singleTenant ? "yes" : "no"],
    ["Slots a GPU", sharing === "exclusive" ? undefined : policy.sharing?.replicas.toString()],
    ...Object.entries(policy.migLayout ?? {}).map(
      ([model, profiles]) => [`Cut of ${model}`, profiles.join(", ")] as const,
    ),
    ["Kernel modules", policy.kernelModules?.join(", ")],
    ["Images kept", policy.prewarmImages?.join(", ")],
    ["Joins", policy.kubernetes?.endpoint],
  ];
  return (
    <dl className={styles["facts"]}>
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function PolicyForm({
  pool,
  onDone,
}: {
  readonly pool: Pool;
  readonly onDone: () => void;
}): ReactNode {
  const { berth, tenantId } = useSession();
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => draftOf(pool.policy));
  const saving = useMutation({
    mutationFn: () =>
      berth.pools.update({ tenantId, poolId: pool.id, policy: policyOf(draft, pool.sharing) }),
    onSuccess: () => {
      toast.success("Policy saved");
      void client.invalidateQueries();
      onDone();
    },
  });
  const wrong = Object.keys(errorsOf(draft, pool.sharing)).length;
  const isElsewhere =
    saving.error !== null && Object.keys(refusedFields(saving.error)).length === 0;
  return (
    <form
      className={styles["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong === 0) saving.mutate();
      }}
    >
      <PolicyFields
        draft={draft}
        sharing={pool.sharing}
        onChange={(next) => {
          saving.reset();
          setDraft(next);
        }}
        refused={saving.error}
      />
      {isElsewhere && <ErrorBox error={saving.error} />}
      <div className={styles["formFoot"]}>
        <Button onPress={onDone}>Cancel</Button>
        <Button
          kind="primary"
          type="submit"
          busy={saving.isPending}
          reason={wrong === 0 ? null : "A field is not as it has to be."}
        >
          Save policy
        </Button>
      </div>
    </form>
  );
}
