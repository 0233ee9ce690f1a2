/** One machine by hand, for who has no report at hand. */
import type { NodeInput } from "@berth/client";
import type { ReactNode } from "react";
import { BOUNDS, wholeRefusal } from "../../../format/whole.ts";
import { Checkbox, TextField } from "../../../ui/field.tsx";
import styles from "../fleet.module.css";

/** As it is typed. */
export interface MachineDraft {
  readonly name: string;
  readonly address: string;
  readonly rack: string;
  readonly vcpu: string;
  readonly memoryGiB: string;
  readonly model: string;
  /** One a line. */
  readonly uuids: string;
  readonly isLinked: boolean;
}

export const NO_MACHINE: MachineDraft = {
  name: "",
  address: "",
  rack: "",
  vcpu: "",
  memoryGiB: "",
  model: "",
  uuids: "",
  isLinked: true,
};

/** Why it is no machine yet; null: it is one. */
export function machineRefusal(draft: MachineDraft): string | null {
  if (draft.name.trim() === "") return "A machine has a name.";
  if ((["vcpu", "memoryGiB"] as const).some((name) => wholeRefusal(draft[name], BOUNDS[name])))
    return "vCPUs or memory are not as they have to be.";
  const uuids = linesOf(draft.uuids);
  if (new Set(uuids).size < uuids.length) return "A GPU's UUID is there twice.";
  return uuids.length > 0 && draft.model.trim() === "" ? "Say which model its GPUs are." : null;
}

/** As the API takes it. */
export function machineOf(draft: MachineDraft): NodeInput {
  const name = draft.name.trim();
  const filled = (text: string): string | undefined => text.trim() || undefined;
  const { address, memoryGiB, rack, vcpu } = draft;
  return {
    name,
    ...(filled(address) === undefined ? {} : { address: address.trim() }),
    ...(filled(rack) === undefined ? {} : { labels: { rack: rack.trim() } }),
    ...(filled(vcpu) === undefined ? {} : { vcpu: Number(vcpu) }),
    ...(filled(memoryGiB) === undefined ? {} : { memoryGiB: Number(memoryGiB) }),
    gpus: linesOf(draft.uuids).map((uuid, index) => ({
      uuid,
      index,
      model: draft.model.trim(),
      ...(draft.isLinked ? { nvlinkDomain: name } : {}),
    })),
  };
}

function linesOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean);
}

export interface MachineFormProps {
  readonly draft: MachineDraft;
  onChange(draft: MachineDraft): void;
}

export function MachineForm({ draft, onChange }: MachineFormProps): ReactNode {
  const text = (field: Exclude<keyof MachineDraft, "isLinked">, label: string) => ({
    label,
    value: draft[field],
    onChange: (value: string) => onChange({ ...draft, [field]: value }),
  });
  const whole = (field: "vcpu" | "memoryGiB") => ({
    type: "number" as const,
    min: BOUNDS[field].least,
    max: BOUNDS[field].most,
    error: wholeRefusal(draft[field], BOUNDS[field]),
  });
  return (
    <>
      <div className={styles["pair"]}>
        <TextField
          {...text("name", "Name")}
          maxLength={256}
          hint="The same name is the same node"
        />
        <TextField {...text("address", "Address")} maxLength={256} placeholder="10.0.0.1" />
        <TextField {...text("rack", "Rack")} maxLength={256} />
        <TextField {...text("model", "GPU model")} placeholder="NVIDIA H100 80GB HBM3" />
        <TextField {...text("vcpu", "vCPUs")} {...whole("vcpu")} />
        <TextField {...text("memoryGiB", "Memory, GiB")} {...whole("memoryGiB")} />
      </div>
      <TextField
        {...text("uuids", "GPU UUIDs")}
        lines
        placeholder="GPU-11111111-0000-0000-0000-000000000000"
        hint="One a line, in the order of their numbers: nvidia-smi --query-gpu=uuid --format=csv,noheader"
      />
      <Checkbox
        label="Its GPUs reach each other by NVLink"
        checked={draft.isLinked}
        onChange={(isLinked) => onChange({ ...draft, isLinked })}
      />
    </>
  );
}
