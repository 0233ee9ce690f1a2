/** The report: pasted or read from a file, with what is wrong in it beside it. */
import { useId, useState } from "react";
import type { ReactNode } from "react";
import { TextField } from "../../../ui/field.tsx";
import field from "../../../ui/field.module.css";
import styles from "../fleet.module.css";
import type { Fault } from "./report.ts";

/** What the server takes of a report, bytes. */
const BYTES_MAX = 8 * 1_048_576;

export interface ReportFieldProps {
  readonly text: string;
  readonly faults: readonly Fault[];
  onChange(text: string): void;
}

const EXAMPLE = `{"nodes": [{"name": "gpu-01", "labels": {"rack": "r1"},
  "gpus": [{"uuid": "GPU-1111…", "index": 0, "model": "NVIDIA-H200"}]}]}`;

export function ReportField({ text, faults, onChange }: ReportFieldProps): ReactNode {
  const id = useId();
  const [refusal, setRefusal] = useState<string | null>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return setRefusal(null);
    // What cannot be sent is not read either.
    if (file.size > BYTES_MAX) return setRefusal(TOO_LARGE);
    const given = await file.text();
    setRefusal(given.trim() === "" ? `The file ${file.name} is empty.` : null);
    onChange(given);
  };
  return (
    <>
      <div className={field["field"]}>
        <label className={field["label"]} htmlFor={id}>
          File
        </label>
        <input
          id={id}
          type="file"
          accept=".json,application/json"
          className={styles["file"]}
          aria-describedby={refusal !== null ? `${id}-note` : undefined}
          onChange={({ target }) => void read(target.files?.[0])}
        />
        {refusal !== null && (
          <span id={`${id}-note`} className={field["error"]} role="alert">
            {refusal}
          </span>
        )}
      </div>
      <div className={styles["report"]}>
        <TextField
          label="Report"
          lines
          value={text}
          placeholder={EXAMPLE}
          error={faults.length === 0 ? null : `${faults.length} to put right, below`}
          hint="The JSON that berth import reads: each machine as it is, the whole of it"
          onChange={onChange}
        />
      </div>
      <Faults faults={faults} />
    </>
  );
}

const TOO_LARGE =
  "The file is larger than the 8 MiB that one call takes: split it, or use berth import.";

/** Where and what, said as they appear. */
function Faults({ faults }: { readonly faults: readonly Fault[] }): ReactNode {
  return (
    <div role="status" aria-label="What is wrong with the report">
      <ul className={styles["faults"]}>
        {faults.map(({ where, what }) => (
          <li key={`${where} ${what}`}>
            {where !== null && <code>{where}</code>} <span dir="auto">{what}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
