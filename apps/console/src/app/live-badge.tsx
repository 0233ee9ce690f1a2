/** Says whether the page is live, and when it is not, how old it may be. */
import type { ReactNode } from "react";
import { durationText } from "../format/duration.ts";
import { cx } from "../ui/cx.ts";
import { useLive } from "./live-store.ts";
import { useNow } from "./now.ts";
import styles from "./shell.module.css";

export function LiveBadge(): ReactNode {
  const live = useLive();
  const now = useNow(1_000);
  if (live.kind === "live")
    return (
      <span className={styles.live} role="status" title="Changes appear by themselves">
        <span className={styles.dot} />
        <span className={styles.wide}>Live</span>
        <span className={cx(styles.narrow, "visually-hidden")}>Live</span>
      </span>
    );
  if (live.kind === "connecting")
    return (
      <span className={cx(styles.live, styles.waiting)} role="status">
        <span className={styles.dot} />
        <span className={styles.wide}>Connecting</span>
      </span>
    );
  if (live.kind === "refused")
    return (
      <span className={cx(styles.live, styles.stale)} role="status" title={live.why}>
        <span className={styles.dot} />
        Not live
      </span>
    );
  return (
    <span
      className={cx(styles.live, styles.stale)}
      title="The connection is lost. It is tried again by itself; what you see may have changed."
    >
      <span className={styles.dot} />
      {/* Said once, not every second. */}
      <span role="status">Connection lost</span>
      <span aria-hidden="true">{durationText(now - live.since)}</span>
    </span>
  );
}
