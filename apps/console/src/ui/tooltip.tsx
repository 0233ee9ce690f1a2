/** What a thing is in more words, on hover and focus. */
import type { ReactNode } from "react";
import {
  Tooltip as AriaTooltip,
  TooltipTrigger as AriaTrigger,
} from "react-aria-components/Tooltip";
import styles from "./button.module.css";

export function TooltipTrigger({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <AriaTrigger delay={250} closeDelay={80}>
      {children}
    </AriaTrigger>
  );
}

export function Tooltip({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <AriaTooltip className={styles.tooltip ?? ""} offset={6}>
      {children}
    </AriaTooltip>
  );
}
