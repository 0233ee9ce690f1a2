/** The fields of a policy, for a new pool and for one that is there. */
import { isBerthError } from "@berth/client";
import type { ReactNode } from "react";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { errorsOf, fieldOf, isSlots } from "./draft.ts";
import type { Draft, DraftErrors, DraftField } from "./draft.ts";
import styles from "./policy.module.css";

export interface PolicyFieldsProps {
  readonly draft: Draft;
  readonly sharing: string;
  onChange(draft: Draft): void;
  /** What the server refused last, or null. */
  readonly refused: unknown;
}

/** What the server said of fields, by field; what it said of others is no part of this form. */
export function refusedFields(error: unknown): DraftErrors {
  const issues = isBerthError(error) ? (error.issues ?? []) : [];
  return Object.fromEntries(
    issues.flatMap((issue) => {
      const field = fieldOf(issue);
      return field === null ? [] : [[field, issue.message]];
    }),
  );
}

export function PolicyFields({ draft, sharing, onChange, refused }: PolicyFieldsProps): ReactNode {
  const errors: DraftErrors = { ...refusedFields(refused), ...errorsOf(draft, sharing) };
  const text = (field: DraftField, label: string, hint?: string) => ({
    label,
    hint,
    value: String(draft[field]),
    error: errors[field],
    onChange: (value: string) => onChange({ ...draft, [field]: value }),
  });
  return (
    <div className={styles["fields"]}>
      <TextField {...text("label", "Label", "The pool's name for people")} maxLength={300} />
      <Select
        label="Placement"
        value={draft.placement}
        hint="Pack keeps nodes whole, spread prefers the emptiest"
        choices={[
          { value: "", name: "Pack (default)" },
          { value: "pack", name: "Pack" },
          { value: "spread", name: "Spread" },
        ]}
        onChange={(placement) => onChange({ ...draft, placement })}
      />
      <TextField {...text("maxDuration", "Longest booking", "90m, 12h, 7d; empty: 366 days")} />
      <TextField {...text("horizon", "How far ahead", "A booking may start; empty: 366 days")} />
      <TextField {...text("noticeSeconds", "Spot notice, seconds", "0 to 3,600; empty: 120")} />
      {isSlots(sharing) && <TextField {...text("replicas", "Slots of each GPU", "2 to 48")} />}
      {sharing === "mig" && (
        <div className={styles["wide"]}>
          <TextField
            {...text("migLayout", "How GPUs are cut", "A line a model: A100: 3g.40gb, 2g.20gb")}
            lines
          />
        </div>
      )}
      <div className={styles["wide"]}>
        <Checkbox
          label="Single tenant"
          hint="At most one tenant beside the owner holds an offer"
          checked={draft.singleTenant}
          onChange={(singleTenant) => onChange({ ...draft, singleTenant })}
        />
      </div>
      <details className={styles["wide"]}>
        <summary>What nodes are set up with</summary>
        <div className={styles["fields"]}>
          <TextField {...text("size1Gi", "Huge pages of 1 GiB")} />
          <TextField {...text("size2Mi", "Huge pages of 2 MiB")} />
          <TextField {...text("kernelModules", "Kernel modules", "One a line")} lines />
          <TextField {...text("prewarmImages", "Images to keep", "One a line")} lines />
          <TextField {...text("endpoint", "Kubernetes API server")} />
          <TextField {...text("caHash", "CA certificate hash")} />
          <TextField {...text("token", "Join token")} type="password" autoComplete="off" />
          <Checkbox
            label="Platform operated"
            hint="The platform runs the cluster that the nodes join"
            checked={draft.platformOperated}
            onChange={(platformOperated) => onChange({ ...draft, platformOperated })}
          />
        </div>
      </details>
    </div>
  );
}
