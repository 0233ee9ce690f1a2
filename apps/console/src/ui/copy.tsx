/** Text that is copied by a press: ids, commands, times. */
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import styles from "./copy.module.css";
import { Icon } from "./icons.tsx";

/** An id or a command, and a press away from the clipboard. `shown` shortens what is seen. */
export function CopyText({
  text,
  shown = text,
  label,
}: {
  readonly text: string;
  readonly shown?: string;
  readonly label?: string;
}): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <button
      type="button"
      className={styles.copy}
      title={`Copy ${text}`}
      onClick={() => void copy()}
    >
      <span className="visually-hidden">Copy {label} </span>
      <code>{shown}</code>
      <span aria-hidden="true">{copied ? "✓" : <Icon name="copy" />}</span>
      <span role="status" className="visually-hidden">
        {copied ? "Copied" : ""}
      </span>
    </button>
  );
}
