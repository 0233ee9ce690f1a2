/** Fields with their label, hint and fault. Native controls: they are light, and every device knows them. */
import type { ReactNode } from "react";
import { useId } from "react";
import { cx } from "./cx.ts";
import styles from "./field.module.css";

interface Common {
  readonly label: string;
  /** Said under it while nothing is wrong. */
  readonly hint?: ReactNode;
  /** What is wrong with it; null or absent: nothing. */
  readonly error?: string | null | undefined;
  /** The label is for screen readers alone. */
  readonly bare?: boolean;
}

interface Parts {
  readonly id: string;
  readonly "aria-invalid": boolean | undefined;
  readonly "aria-describedby": string | undefined;
}

/** Label, control, and a line under it that the control is described by. */
export function Field({
  label,
  hint,
  error,
  bare = false,
  children,
}: Common & { readonly children: (parts: Parts) => ReactNode }): ReactNode {
  const id = useId();
  const note = error ?? hint;
  const hasNote = note !== undefined && note !== null && note !== "";
  return (
    <div className={styles.field}>
      <label className={bare ? "visually-hidden" : styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        "aria-invalid": error ? true : undefined,
        "aria-describedby": hasNote ? `${id}-note` : undefined,
      })}
      {hasNote ? (
        <span id={`${id}-note`} className={error ? styles.error : styles.hint}>
          {note}
        </span>
      ) : null}
    </div>
  );
}

export interface TextFieldProps extends Common {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly type?: "text" | "password" | "search" | "number";
  readonly maxLength?: number;
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly required?: boolean;
  readonly lines?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly list?: string;
}

export function TextField({
  label,
  hint,
  error,
  value,
  onChange,
  lines = false,
  type = "text",
  ...rest
}: TextFieldProps): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(parts) =>
        lines ? (
          <textarea
            {...parts}
            className={styles.input}
            value={value}
            maxLength={rest.maxLength}
            placeholder={rest.placeholder}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...parts}
            {...rest}
            dir={type === "text" ? "auto" : undefined}
            type={type}
            className={styles.input}
            value={value}
            spellCheck={false}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly name: string;
}

export interface SelectProps<T extends string> extends Common {
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}

export function Select<T extends string>({
  label,
  hint,
  error,
  bare = false,
  value,
  choices,
  onChange,
}: SelectProps<T>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(parts) => (
        <select
          {...parts}
          className={styles.select}
          value={value}
          onChange={({ target }) => {
            const chosen = choices.find((choice) => choice.value === target.value);
            if (chosen) onChange(chosen.value);
          }}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface SegmentedProps<T extends string> {
  readonly label: string;
  /** Null: none is chosen. */
  readonly value: T | null;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
  /** The label is for screen readers alone. */
  readonly bare?: boolean;
  /** What is wrong with the choice; null or absent: nothing. */
  readonly error?: string | null | undefined;
}

/** One of a few, all in sight. */
export function Segmented<T extends string>({
  label,
  value,
  choices,
  onChange,
  bare = false,
  error,
}: SegmentedProps<T>): ReactNode {
  const name = useId();
  return (
    <fieldset className={styles.field} aria-describedby={error ? `${name}-note` : undefined}>
      <legend className={bare ? "visually-hidden" : styles.label}>{label}</legend>
      <div className={styles.segmented}>
        {choices.map((choice) => (
          <label key={choice.value} className={styles.segment}>
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>{choice.name}</span>
          </label>
        ))}
      </div>
      {error ? (
        <span id={`${name}-note`} className={styles.error}>
          {error}
        </span>
      ) : null}
    </fieldset>
  );
}

export interface CheckboxProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function Checkbox({ label, hint, checked, onChange }: CheckboxProps): ReactNode {
  return (
    <label className={cx(styles.check)}>
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>
        {label}
        {hint === undefined ? null : <small>{hint}</small>}
      </span>
    </label>
  );
}
