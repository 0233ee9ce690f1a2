/** Who called what with which outcome, newest first, live. */
import type { AuditEntry } from "@berth/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCan } from "../../access/use-can.ts";
import { useSession } from "../../app/session.tsx";
import { shortId } from "../../facts/describe.ts";
import { number } from "../../format/gpus.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Segmented, TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Empty, ErrorBox, Loading, Partial } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useSetSearch } from "../use-set-search.ts";
import styles from "./activity.module.css";
import type { ActivitySearch } from "./search.ts";

export function ActivityPage(): ReactNode {
  const refusal = useCan()("access.audit");
  return (
    <Page title="Activity" lead="Who changed what, newest first; refusals are summed by the minute">
      {refusal === null ? (
        <Trail />
      ) : (
        <Empty title="The audit trail is not for your role">
          {refusal} What happened to a booking is in its facts.
        </Empty>
      )}
    </Page>
  );
}

function Trail(): ReactNode {
  const { queries, tenantId } = useSession();
  const query = useInfiniteQuery(
    queries.access.audit.infiniteQueryOptions({ tenantId, limit: 100 }),
  );
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = query;
  const all = data?.pages.flatMap(({ entries }) => entries);
  return (
    <>
      <Filters />
      {error !== null && <ErrorBox error={error} onRetry={() => void refetch()} />}
      {all === undefined && error === null && <Loading what="the audit trail" lines={8} />}
      {all !== undefined && <Entries all={all} isWhole={!hasNextPage} />}
      {hasNextPage && (
        <div>
          <Button busy={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </>
  );
}

function Filters(): ReactNode {
  const { outcome, q } = useSearch({ from: "/activity" });
  const set = useSetSearch<ActivitySearch>();
  return (
    <div className={styles["filters"]}>
      <TextField
        label="Find"
        type="search"
        value={q ?? ""}
        placeholder="Caller, method or id"
        onChange={(next) => set({ q: next === "" ? undefined : next })}
      />
      <Segmented
        label="Outcome"
        value={outcome ?? "all"}
        choices={[
          { value: "all", name: "All" },
          { value: "refused", name: "Refused" },
        ]}
        onChange={(next) => set({ outcome: next === "refused" ? next : undefined })}
      />
    </div>
  );
}

interface EntriesProps {
  readonly all: readonly AuditEntry[];
  /** False: there are older ones that are not loaded, and not searched. */
  readonly isWhole: boolean;
}

function Entries({ all, isWhole }: EntriesProps): ReactNode {
  const { outcome, q = "" } = useSearch({ from: "/activity" });
  const needle = q.trim().toLowerCase();
  const shown = all.filter(
    (entry) => (outcome === undefined || entry.outcome !== "ok") && textOf(entry).includes(needle),
  );
  const isFiltered = outcome !== undefined || needle !== "";
  return (
    <>
      {isFiltered && !isWhole && (
        <Partial>
          Looked for in the newest {number(all.length)} entries: show older for more.
        </Partial>
      )}
      {shown.length === 0 ? (
        <Empty title={isFiltered ? "No entry is like that" : "Nothing has been changed yet"} />
      ) : (
        <EntryTable entries={shown} />
      )}
    </>
  );
}

function textOf({ method, outcome, principal, requestId, target }: AuditEntry): string {
  return [principal, method, target, outcome, requestId].join(" ").toLowerCase();
}

function EntryTable({ entries }: { readonly entries: readonly AuditEntry[] }): ReactNode {
  return (
    <div className={styles["panel"]}>
      <Table
        label="Audit trail"
        rows={entries}
        rowKey={({ id }) => id}
        columns={[
          { id: "at", name: "When", cell: ({ at }) => <Time at={at} /> },
          { id: "who", name: "Who", cell: ({ principal }) => <span dir="auto">{principal}</span> },
          { id: "method", name: "Did", cell: ({ method }) => <code>{method}</code> },
          { id: "target", name: "To", cell: ({ target }) => <Target of={target} /> },
          {
            id: "outcome",
            name: "Outcome",
            cell: ({ count, outcome }) => (
              <Chip tone={outcome === "ok" ? "good" : "bad"} glyph={outcome === "ok" ? "✓" : "×"}>
                {outcome}
                {count > 1 && ` × ${number(count)}`}
              </Chip>
            ),
          },
          {
            id: "request",
            name: "Request",
            cell: ({ requestId }) => (
              <CopyText text={requestId} shown={requestId.slice(-8)} label="the request's id" />
            ),
          },
        ]}
      />
    </div>
  );
}

/** A reservation opens its facts, a pool its page; other things are named. */
function Target({ of }: { readonly of: string | null }): ReactNode {
  if (of === null) return "";
  if (of.startsWith("rsv_"))
    return (
      <Link to="." search={(all) => ({ ...all, rsv: of })}>
        {shortId(of)}
      </Link>
    );
  if (of.startsWith("pool_"))
    return (
      <Link
        to="/pools/$poolId"
        params={{ poolId: of }}
        search={({ tenant }) => (tenant === undefined ? {} : { tenant })}
      >
        {shortId(of)}
      </Link>
    );
  return (
    <span dir="auto" title={of}>
      {shortId(of)}
    </span>
  );
}
