/** Two verdicts side by side, the pool's and the quota's; under them why not, when, and what fits instead. */
import type { BookingRequest, Preview, QuotaLine, QuotedShape } from "@berth/client";
import type { ReactNode } from "react";
import { useZone } from "../../app/zone.tsx";
import { ReasonBar } from "../../fit/reason-bar.tsx";
import { countText, number } from "../../format/gpus.ts";
import { rangeText, timeText, utcText } from "../../format/time.ts";
import { Bar } from "../../ui/bar.tsx";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { Panel } from "../../ui/page.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { limitOf } from "../pool/quota-text.ts";
import { resourceText } from "../pool/resources.ts";
import styles from "./book.module.css";
import type { BookForm, PoolFacts } from "./form.ts";
import { placedOf, roomText } from "./outcome.ts";
import type { Quoting } from "./use-quote.ts";

export interface VerdictProps {
  readonly form: BookForm;
  readonly pool: PoolFacts;
  readonly quoting: Quoting;
  readonly onChange: (part: Partial<BookForm>) => void;
}

export function Verdict({ pool, quoting, onChange }: VerdictProps): ReactNode {
  const { answer, ask, error, isCurrent } = quoting;
  if (answer === null)
    return error === null || !ask.ok ? (
      <Panel title="Does it fit?">
        {ask.ok ? <Loading what="the answer" /> : <p>As soon as the form is complete.</p>}
      </Panel>
    ) : (
      <ErrorBox error={error} onRetry={() => void quoting.again().catch(() => null)} />
    );
  const { preview, quota } = answer;
  return (
    <>
      {/* Busy: what is asked anew at each key is said once it is answered. */}
      <div
        className={cx(styles.verdicts, !isCurrent && styles.old)}
        role="status"
        aria-busy={!isCurrent}
      >
        <PoolVerdict preview={preview} request={ask.ok ? ask.request : {}} isPending={!isCurrent} />
        <QuotaVerdict quota={quota} isPending={!isCurrent} />
      </div>
      {preview.fits && quota.ok ? null : (
        <Fixes answer={answer} pool={pool} quoting={quoting} onChange={onChange} />
      )}
    </>
  );
}

/** An answer to what the form said before is none: neither its mark nor its words stand while it is asked anew. */
function Pending({ label }: { readonly label: string }): ReactNode {
  return (
    <section className={styles.verdict} aria-label={label}>
      <h2>
        <span aria-hidden="true">…</span> Being tried
      </h2>
    </section>
  );
}

interface PoolVerdictProps {
  readonly preview: Preview;
  /** What the preview answers, when it is not pending. */
  readonly request: Pick<BookingRequest, "binding" | "gang">;
  readonly isPending: boolean;
}

function PoolVerdict({ preview, request, isPending }: PoolVerdictProps): ReactNode {
  const { zone } = useZone();
  if (isPending) return <Pending label="The pool" />;
  const { fits, preemptible, reason } = preview;
  if (fits) {
    return (
      <section className={cx(styles.verdict, styles.yes)} aria-label="The pool">
        <h2>
          <span aria-hidden="true">✓</span> It fits
        </h2>
        <p>{rangeText(preview, zone, preview.asOf)}</p>
        <p>{roomText(placedOf(preview, request))}</p>
      </section>
    );
  }
  if (preemptible)
    return (
      <section className={cx(styles.verdict, styles.perhaps)} aria-label="The pool">
        <h2>
          <span aria-hidden="true">~</span> It fits when spot makes way
        </h2>
        <p>
          {preemptible.exact ? "" : "At most "}
          {countText(preemptible.count, "spot booking")} would get notice; it starts{" "}
          <time title={utcText(preemptible.startsAt)}>
            {timeText(preemptible.startsAt, zone, { now: preview.asOf })}
          </time>
          .
        </p>
        <p>{reason?.message}</p>
      </section>
    );
  return (
    <section className={cx(styles.verdict, styles.no)} aria-label="The pool">
      <h2>
        <span aria-hidden="true">×</span> It does not fit
      </h2>
      <p>{rangeText(preview, zone, preview.asOf)}</p>
      <p>{reason?.message}</p>
    </section>
  );
}

function QuotaVerdict({
  quota,
  isPending,
}: Pick<QuotedShape, "quota"> & { readonly isPending: boolean }): ReactNode {
  if (isPending) return <Pending label="The quota" />;
  return (
    <section
      className={cx(styles.verdict, quota.ok ? styles.yes : styles.no)}
      aria-label="The quota"
    >
      <h2>
        <span aria-hidden="true">{quota.ok ? "✓" : "×"}</span>{" "}
        {quota.ok ? "Within my quota" : "Over my quota"}
      </h2>
      <ul className={styles.quotas}>
        {quota.rows.map((row) => (
          <QuotaRow key={row.resource} row={row} />
        ))}
      </ul>
    </section>
  );
}

function QuotaRow({ row }: { readonly row: QuotaLine }): ReactNode {
  const { asked, max, peak, remaining, resource } = row;
  const name = resourceText(resource);
  if (max === null)
    return (
      <li>
        <p>
          <span>{name}</span>
          <span>
            {number(asked)} of {number(remaining ?? 0)} left
          </span>
        </p>
      </li>
    );
  const used = peak ?? 0;
  const isUnlimited = limitOf({ max }) === null;
  return (
    <li>
      <p>
        <span>{name}</span>
        <span>
          {number(used)} + {number(asked)} of {isUnlimited ? "no limit" : number(max)}
        </span>
      </p>
      {isUnlimited ? null : (
        <Bar
          thin
          label={`Quota of ${name}`}
          total={max}
          parts={[
            { fill: "booked", name: "in use then", count: Math.min(used, max) },
            { fill: "accent", name: "asked for", count: Math.min(asked, Math.max(0, max - used)) },
            { fill: "free", name: "left", count: Math.max(0, max - used - asked) },
          ]}
        />
      )}
    </li>
  );
}

interface FixesProps extends Pick<VerdictProps, "pool" | "quoting" | "onChange"> {
  readonly answer: QuotedShape;
}

/** Why, when, and what instead: everything one press away. */
function Fixes({ answer, pool, quoting, onChange }: FixesProps): ReactNode {
  const { zone } = useZone();
  const { preview } = answer;
  const { concessions } = quoting;
  const { earliestStart, reason } = preview;
  const gpus = quoting.ask.ok ? (quoting.ask.request.devices[0]?.count ?? 1) : 1;
  return (
    <Panel title="What would fit" lead="A press changes the form; nothing is booked yet">
      {earliestStart === null || preview.fits ? null : (
        <section className={styles.group}>
          <h3>The same, at the first time it fits</h3>
          <div className={styles.fixes}>
            <Button
              reason={quoting.isCurrent ? null : "It is being tried whether it fits."}
              onPress={() => onChange({ start: earliestStart, startFault: null, startTyped: null })}
            >
              Start {timeText(earliestStart, zone, { now: preview.asOf })}
            </Button>
          </div>
        </section>
      )}
      {concessions.length === 0 ? null : (
        <section className={styles.group}>
          <h3>At the same time, with less</h3>
          <div className={styles.fixes}>
            {concessions.map(({ kind, words, change }) => (
              <Button key={kind} onPress={() => onChange(change)}>
                {words}
              </Button>
            ))}
          </div>
        </section>
      )}
      {earliestStart === null && !preview.fits ? (
        <section className={styles.group}>
          <p className={styles.words}>
            As asked for it fits at no time up to{" "}
            {timeText(preview.searchedTo, zone, { now: preview.asOf })}.
          </p>
        </section>
      ) : null}
      {reason === null || reason.blocked.length === 0 ? null : (
        <section className={styles.group}>
          <h3>What is in the way, by nodes; a cause shows them on the map</h3>
          <ReasonBar
            reason={reason}
            poolId={pool.id}
            start={preview.start}
            end={preview.end}
            gpus={gpus}
          />
        </section>
      )}
    </Panel>
  );
}
