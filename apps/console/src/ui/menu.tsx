/** A menu of things to choose or do, under the button that opens it. */
import type { ReactNode } from "react";
import { Menu as AriaMenu, MenuItem, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import styles from "./menu.module.css";

export interface MenuEntry {
  readonly id: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly chosen?: boolean;
}

export function Menu({
  label,
  button,
  entries,
  onAction,
}: {
  readonly label: string;
  /** A `Button`. */
  readonly button: ReactNode;
  readonly entries: readonly MenuEntry[];
  readonly onAction: (id: string) => void;
}): ReactNode {
  const hasChoice = entries.some(({ chosen }) => chosen !== undefined);
  return (
    <MenuTrigger>
      {button}
      <Popover className={styles.popover ?? ""} placement="bottom end">
        <AriaMenu
          aria-label={label}
          className={styles.menu ?? ""}
          onAction={(key) => onAction(String(key))}
        >
          {entries.map(({ id, name, note, chosen }) => (
            <MenuItem key={id} id={id} textValue={name} className={styles.item ?? ""}>
              {hasChoice ? (
                <span className={styles.tick} aria-hidden="true">
                  {chosen ? "✓" : ""}
                </span>
              ) : null}
              <span dir="auto">
                {name}
                {chosen ? <span className="visually-hidden"> (chosen)</span> : null}
                {note === undefined ? null : <small>{note}</small>}
              </span>
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
