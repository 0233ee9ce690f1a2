/** A dialog over the page: focus stays in it, Escape leaves it. */
import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { Button } from "./button.tsx";
import type { ButtonKind } from "./button.tsx";
import { cx } from "./cx.ts";
import styles from "./dialog.module.css";

export interface DialogProps {
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The buttons, the one that acts last. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  /** It asks about something that cannot be taken back. */
  readonly alert?: boolean;
}

export function Dialog({
  title,
  children,
  isOpen,
  onClose,
  foot,
  wide = false,
  alert = false,
}: DialogProps): ReactNode {
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      isDismissable={!alert}
    >
      <Modal className={cx(styles.modal, wide && styles.wide)}>
        <AriaDialog className={styles.dialog ?? ""} role={alert ? "alertdialog" : "dialog"}>
          <div className={styles.head}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button kind="quiet" size="icon" label="Close" onPress={onClose}>
              <span aria-hidden="true">✕</span>
            </Button>
          </div>
          <div className={styles.body}>{children}</div>
          {foot === undefined ? null : <div className={styles.foot}>{foot}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

export interface DialogFootProps {
  readonly onCancel: () => void;
  /** What the button does: `Make the site`. */
  readonly verb: string;
  readonly kind?: ButtonKind;
  /** Why it cannot be done yet; null: it can. */
  readonly reason: string | null;
  readonly busy: boolean;
  readonly onAct: () => void;
}

/** The way out, and the button that acts. */
export function DialogFoot(props: DialogFootProps): ReactNode {
  const { onCancel, verb, kind = "primary", reason, busy, onAct } = props;
  return (
    <>
      <Button onPress={onCancel}>Cancel</Button>
      <Button kind={kind} reason={reason} busy={busy} onPress={onAct}>
        {verb}
      </Button>
    </>
  );
}
