/** What a part of a page shows when it has nothing, not yet, not all, or a failure: the part, never the whole page. */
import { isBerthError } from "@berth/client";
import type { BerthError, Issue } from "@berth/client";
import type { ReactNode } from "react";
import { faultText, issueText, placeInFile } from "../format/fault.ts";
import { Button } from "./button.tsx";
import { CopyText } from "./copy.tsx";
import { cx } from "./cx.ts";
import styles from "./states.module.css";

/** Nothing here, and what to do about it. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}): ReactNode {
  return (
    <div className={styles.box} data-box>
      <h3>{title}</h3>
      {children === undefined ? null : <p>{children}</p>}
      {action === undefined ? null : <div className={styles.actions}>{action}</div>}
    </div>
  );
}

export function Loading({
  what,
  lines = 3,
}: {
  /** What is loaded, as in "Loading pools". */
  readonly what: string;
  readonly lines?: number;
}): ReactNode {
  return (
    <div className={styles.loading} role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className={styles.line} />
      ))}
    </div>
  );
}

const HEADINGS: Readonly<Record<string, string>> = {
  FORBIDDEN: "Your role does not allow this",
  NOT_FOUND: "There is no such thing here",
  NETWORK: "The server cannot be reached",
  TIMEOUT: "The server did not answer in time",
  UNAVAILABLE: "The server cannot serve this now",
  RATE_LIMITED: "Too many calls",
};

/** An error in the server's own words, with what support asks for. */
export function ErrorBox({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}): ReactNode {
  const known = isBerthError(error) ? error : null;
  return (
    <div className={cx(styles.box, styles.error)} role="alert">
      <h3>{HEADINGS[known?.code ?? ""] ?? "This did not work"}</h3>
      <p>{faultText(error)}</p>
      {known !== null && <Issues error={known} />}
      {known?.requestId ? (
        <small>
          Request <CopyText text={known.requestId} />
        </small>
      ) : null}
      {onRetry === undefined ? null : (
        <div className={styles.actions}>
          <Button size="small" onPress={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

/** More would not be read at once. */
const ISSUES_SHOWN = 20;

/** Where there is one fault the message says it already. */
function Issues({ error: { issues } }: { readonly error: BerthError }): ReactNode {
  if (issues === null || issues.length < 2) return null;
  return (
    <ul className={styles.issues}>
      {issues.slice(0, ISSUES_SHOWN).map(({ message, path }) => (
        <li key={`${path.join(".")} ${message}`}>
          <IssueLine message={message} path={path} />
        </li>
      ))}
    </ul>
  );
}

function IssueLine({ message, path }: Issue): ReactNode {
  const place = placeInFile(path);
  if (place === null) return <span dir="auto">{issueText({ message, path })}</span>;
  return (
    <>
      <code>{place}</code> <span dir="auto">{message}</span>
    </>
  );
}

/** Part of it is missing, and why. */
export function Partial({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className={styles.partial} role="status">
      <span aria-hidden="true">◐</span>
      <span>{children}</span>
    </div>
  );
}

/** As much of a query as its place on the page needs. */
export interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
}

/** More of it is on its way: told to who listens, and after a moment to who looks. */
export function Progress({
  what,
  children,
}: {
  /** What is loaded, as in "Loading pools". */
  readonly what: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <p className={styles.progress} role="status" aria-label={`Loading ${what}`}>
      {children}
    </p>
  );
}

/** A query's data; before it the skeleton, after a failure what failed. Old data outlives a failed refresh. */
export function Loaded<T>({
  query,
  what,
  lines,
  children,
}: {
  readonly query: Asked<T>;
  readonly what: string;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { data, error, refetch } = query;
  if (data !== undefined)
    return (
      <>
        {error === null ? null : (
          <Partial>
            As it was last seen: {faultText(error)}{" "}
            <Button size="small" onPress={() => void refetch()}>
              Try again
            </Button>
          </Partial>
        )}
        {children(data)}
      </>
    );
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  return <Loading what={what} {...(lines === undefined ? {} : { lines })} />;
}
