/** The frame of a page and of its parts. */
import type { ReactNode } from "react";
import { useEffect, useId } from "react";
import { cx } from "./cx.ts";
import styles from "./page.module.css";

export function Page({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Berth`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1 dir="auto">{title}</h1>
          {lead === undefined ? null : <p>{lead}</p>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page under a heading of its own. `flush`: what is in it reaches the edges. */
export function Panel({
  title,
  lead,
  actions,
  flush = false,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly flush?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <div className={styles.panelHead}>
        <div>
          <h2 id={id}>{title}</h2>
          {lead === undefined ? null : <p>{lead}</p>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </div>
      <div className={cx(styles.panelBody, flush && styles.flush)}>{children}</div>
    </section>
  );
}
