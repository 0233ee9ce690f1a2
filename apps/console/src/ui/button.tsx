/** Buttons. One that may not be pressed is shown dead with its reason; it can still be reached and read. */
import type { ReactNode, Ref } from "react";
import { useEffect, useId, useRef } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Focusable } from "react-aria-components/Focusable";
import styles from "./button.module.css";
import { cx } from "./cx.ts";
import { Tooltip, TooltipTrigger } from "./tooltip.tsx";

export type ButtonKind = "plain" | "primary" | "danger" | "quiet";
export type ButtonSize = "small" | "medium" | "large" | "icon";

interface Look {
  readonly kind?: ButtonKind | undefined;
  readonly size?: ButtonSize | undefined;
}

export interface ButtonProps extends Look {
  readonly children: ReactNode;
  readonly onPress?: (() => void) | undefined;
  /** Why it may not be pressed; null or absent: it may. */
  readonly reason?: string | null | undefined;
  /** What it is called, where its content is a sign. */
  readonly label?: string | undefined;
  readonly type?: "button" | "submit" | undefined;
  /** Waiting for the answer: it cannot be pressed twice. Given at all, a double click is one press. */
  readonly busy?: boolean | undefined;
  readonly pressed?: boolean | undefined;
  readonly autoFocus?: boolean | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

/** The look of a button, for a link that leads somewhere. */
export function buttonClass({ kind = "plain", size = "medium" }: Look = {}): string {
  return cx(
    styles.button,
    kind === "plain" ? null : styles[kind],
    size === "medium" ? null : styles[size],
  );
}

/**
 * The second press of a double click may come before the page has shown that the first one is under way; soon after
 * it is shown, and the button is busy.
 */
const DOUBLE_MS = 150;

function useOnePress(onPress: (() => void) | undefined, busy: boolean | undefined) {
  const last = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    // It was busy and is not any more: what is pressed now is a new wish.
    if (busy === false) last.current = Number.NEGATIVE_INFINITY;
  }, [busy]);
  if (onPress === undefined) return undefined;
  return (): void => {
    const now = performance.now();
    if (busy !== undefined && now - last.current < DOUBLE_MS) return;
    last.current = now;
    onPress();
  };
}

export function Button({ reason, busy, ...rest }: ButtonProps): ReactNode {
  const press = useOnePress(rest.onPress, busy);
  if (reason !== undefined && reason !== null) return <DeadButton {...rest} reason={reason} />;
  const { children, label, type = "button", pressed, autoFocus, ref } = rest;
  return (
    <AriaButton
      className={buttonClass(rest)}
      type={type}
      isPending={busy ?? false}
      {...(ref === undefined ? {} : { ref })}
      {...(press === undefined ? {} : { onPress: press })}
      {...(label === undefined ? {} : { "aria-label": label })}
      {...(pressed === undefined ? {} : { "aria-pressed": pressed })}
      {...(autoFocus === undefined ? {} : { autoFocus })}
    >
      {busy === true ? <span className={styles.spinner} aria-hidden="true" /> : null}
      {children}
    </AriaButton>
  );
}

/** A disabled button would be passed over by the keyboard, and its reason with it. */
function DeadButton({
  children,
  reason,
  label,
  kind,
  size,
}: Omit<ButtonProps, "reason"> & { readonly reason: string }): ReactNode {
  const id = useId();
  return (
    <TooltipTrigger>
      <Focusable>
        <button
          type="button"
          className={cx(buttonClass({ kind, size }), styles.dead)}
          aria-disabled="true"
          aria-label={label}
          aria-describedby={id}
        >
          {children}
          <span id={id} className="visually-hidden">
            {reason}
          </span>
        </button>
      </Focusable>
      <Tooltip>{reason}</Tooltip>
    </TooltipTrigger>
  );
}
