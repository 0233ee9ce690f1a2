/** Booking: the form on one side; on the other whether it fits, why not, when it would, and what would fit instead. */
import type { CapacitySummary, Pool } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useSession } from "../../app/session.tsx";
import { gpusPerNode } from "../../fit/ladder.ts";
import { shortId } from "../../facts/describe.ts";
import { Button } from "../../ui/button.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { mainRow } from "../overview/counts.ts";
import { useSetSearch } from "../use-set-search.ts";
import { BookFields } from "./book-fields.tsx";
import styles from "./book.module.css";
import { Candidates } from "./candidates.tsx";
import { kindOf, searchOf } from "./form.ts";
import type { BookForm } from "./form.ts";
import { fromLink } from "./link.ts";
import type { LinkNote } from "./link.ts";
import type { BookSearch } from "./search.ts";
import { Submit } from "./submit.tsx";
import { useQuote } from "./use-quote.ts";
import { Verdict } from "./verdict.tsx";

export function BookPage(): ReactNode {
  const { queries, tenantId } = useSession();
  const pools = useQuery(queries.pools.list.queryOptions({ tenantId }));
  const summary = useQuery(queries.capacity.summary.queryOptions({ tenantId }));
  return (
    <Page
      title="Book"
      lead="What is asked for is tried as you type; nothing is booked before the button"
    >
      <Loaded query={pools} what="pools">
        {(list) => (
          <Loaded query={summary} what="capacity">
            {(counted) => <WithPools pools={list.pools} summary={counted} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

/** A pool that can be booked in. */
export interface BookablePool {
  readonly pool: Pool;
  readonly perNode: number;
  /** Free of what it is measured by. */
  readonly free: number;
}

interface WithPoolsProps {
  readonly pools: readonly Pool[];
  readonly summary: CapacitySummary;
}

function WithPools({ pools, summary }: WithPoolsProps): ReactNode {
  const search = useSearch({ from: "/book" });
  const bookable = useMemo(() => bookableOf(pools, summary), [pools, summary]);
  const [first, setFirst] = useState(() => bookable[0]?.pool.id);
  // The roomiest when the page opened: the choice must not change while somebody fills the form. An address that
  // names a pool means that one and no other.
  const named = search.pool ?? first;
  const chosen = bookable.find(({ pool }) => pool.id === named);
  const missing = chosen === undefined ? bookable[0]?.pool.id : undefined;
  useEffect(() => {
    if (missing !== undefined) setFirst(missing);
  }, [missing]);
  if (chosen === undefined && search.pool !== undefined && bookable.length > 0)
    return <NoSuchPool bookable={bookable} />;
  if (chosen === undefined)
    return (
      <Empty title="No pool to book in" action={<Link to="/pools">To the pools</Link>}>
        This tenant neither owns a pool nor is offered one.
      </Empty>
    );
  return <Booking key={kindOf(chosen.pool)} bookable={bookable} chosen={chosen} />;
}

/** The address names a pool that is archived, not offered any more, or of another installation. */
function NoSuchPool({ bookable }: { readonly bookable: readonly BookablePool[] }): ReactNode {
  const set = useSetSearch<BookSearch>();
  return (
    <Empty
      title="The pool of this address is not there, or not yours to book in"
      action={bookable.slice(0, POOLS_OFFERED).map(({ pool: { gpuModel, id, region } }) => (
        <Button key={id} onPress={() => set({ pool: id })}>
          Book in {gpuModel ?? shortId(id)}, {region}
        </Button>
      ))}
    >
      Nothing else of the form is lost.
    </Empty>
  );
}

/** More are found on the page of the pools. */
const POOLS_OFFERED = 6;

function bookableOf(pools: readonly Pool[], summary: CapacitySummary): BookablePool[] {
  return pools
    .filter(({ archived }) => !archived)
    .map((pool) => {
      const counted = summary.pools.find(({ poolId }) => poolId === pool.id);
      const row = counted === undefined ? null : mainRow(counted);
      return {
        pool,
        perNode: gpusPerNode(counted?.capacity ?? []),
        free: row?.available ?? 0,
      };
    })
    .toSorted((a, b) => b.free - a.free);
}

interface BookingProps {
  readonly bookable: readonly BookablePool[];
  readonly chosen: BookablePool;
}

function Booking({ bookable, chosen }: BookingProps): ReactNode {
  const { pool, perNode } = chosen;
  const search = useSearch({ from: "/book" });
  const set = useSetSearch<BookSearch>();
  const [link] = useState(() => fromLink(search, kindOf(pool), Date.now()));
  const [form, setForm] = useState<BookForm>(link.form);
  const facts = useMemo(() => ({ id: pool.id, perNode }), [pool.id, perNode]);
  const quoting = useQuote(form, facts);
  useEffect(() => {
    const cleared = { gpus: undefined, together: undefined, start: undefined, spot: undefined };
    set({ ...cleared, for: undefined, ...searchOf(form, pool.id) });
  }, [form, pool.id, set]);
  const change = (part: Partial<BookForm>): void => setForm((before) => ({ ...before, ...part }));
  return (
    <div className={styles.columns}>
      <Panel title="What and when">
        <form
          className={styles.form}
          onSubmit={(event) => event.preventDefault()}
          aria-label="Booking"
        >
          <LinkNotes notes={notesLeft(link.notes, link.form, form)} />
          <BookFields
            form={form}
            ask={quoting.ask}
            bookable={bookable}
            pool={pool}
            onChange={change}
            onPool={(id) => set({ pool: id })}
          />
          <Submit form={form} pool={pool} quoting={quoting} />
        </form>
      </Panel>
      <div className={styles.right}>
        <Verdict form={form} pool={facts} quoting={quoting} onChange={change} />
        <Candidates pool={pool} quoting={quoting} />
      </div>
    </div>
  );
}

/** What the person has chosen anew is not the link's any more. */
function notesLeft(notes: readonly LinkNote[], first: BookForm, form: BookForm): LinkNote[] {
  return notes.filter(({ field }) =>
    field === "start" ? form.startTyped !== null : form[field] === first[field],
  );
}

function LinkNotes({ notes }: { readonly notes: readonly LinkNote[] }): ReactNode {
  return notes.map(({ field, words }) => (
    <p key={field} className={styles.taken} role="alert" dir="auto">
      {words}
    </p>
  ));
}
