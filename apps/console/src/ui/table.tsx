/**
 * Rows and columns; on a narrow screen each row is a card that names its values. A row with a link is opened by a press
 * anywhere on it; with the keyboard and for who does not see it, it is the link alone.
 */
import type { MouseEvent, ReactNode } from "react";
import { cx } from "./cx.ts";
import styles from "./table.module.css";

export interface Column<R> {
  readonly id: string;
  readonly name: string;
  readonly cell: (row: R) => ReactNode;
  /** Numbers stand at the end of their cell. */
  readonly end?: boolean;
}

export interface TableProps<R> {
  /** What the table is of, for who does not see it. */
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  readonly isSelected?: (row: R) => boolean;
}

export function Table<R>({ label, columns, rows, rowKey, isSelected }: TableProps<R>): ReactNode {
  return (
    <div className={styles.wrap}>
      <table className={styles.table}>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={cx(column.end && styles.end)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              className={cx(isSelected?.(row) && styles.selected)}
              aria-current={isSelected?.(row) ? "true" : undefined}
              onClick={openRow}
            >
              {columns.map((column) => (
                <td
                  key={column.id}
                  data-label={column.name}
                  className={cx(column.end && styles.end)}
                >
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What does something of its own when it is pressed. */
const PRESSED = "a, button, input, select, label, summary, [role=button]";

function openRow(event: MouseEvent<HTMLTableRowElement>): void {
  const { altKey, button, ctrlKey, currentTarget, metaKey, shiftKey, target } = event;
  if (button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return;
  if (target instanceof Element && target.closest(PRESSED)) return;
  // Whoever has just marked some text means to copy it.
  if (getSelection()?.isCollapsed === false) return;
  currentTarget.querySelector("a")?.click();
}
