/** The fields of the form, from what is asked for most to what is asked for least. */
import type { Pool } from "@berth/client";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useZone } from "../../app/zone.tsx";
import { LENGTH_HINT, durationText } from "../../format/duration.ts";
import { UNBOOKED } from "../../format/free.ts";
import { number } from "../../format/gpus.ts";
import { Checkbox, Segmented, Select, TextField } from "../../ui/field.tsx";
import type { Choice } from "../../ui/field.tsx";
import { LazyDateTime } from "../../ui/lazy-date-time.tsx";
import { poolName } from "../pool-names.ts";
import type { BookablePool } from "./book-page.tsx";
import styles from "./book.module.css";
import { kindOf } from "./form.ts";
import type { Ask, BookForm, FormErrors } from "./form.ts";
import { startFault } from "./link.ts";
import type { TogetherChoice } from "./search.ts";
import { nextWeek, tomorrow } from "./when.ts";

export interface BookFieldsProps {
  readonly form: BookForm;
  readonly ask: Ask;
  readonly bookable: readonly BookablePool[];
  readonly pool: Pool;
  readonly onChange: (part: Partial<BookForm>) => void;
  readonly onPool: (poolId: string) => void;
}

const TOGETHER_CHOICES: readonly Choice<TogetherChoice>[] = [
  { value: "any", name: "on as few nodes as possible" },
  { value: "node", name: "on one node" },
  { value: "nvlink", name: "in one NVLink domain" },
  { value: "rack", name: "on one rack" },
  { value: "zone", name: "in one zone" },
];

const COUNT_NAMES = {
  gpu: "GPUs",
  "gpu.mig": "MIG instances",
  "gpu.slot": "GPU slots",
  node: "Whole nodes",
} as const;

export function BookFields(props: BookFieldsProps): ReactNode {
  const { form, ask, bookable, pool, onChange, onPool } = props;
  const errors = ask.ok ? {} : ask.errors;
  return (
    <>
      <Select
        label="Pool"
        value={pool.id}
        choices={bookable.map(({ pool: each, free }) => ({
          value: each.id,
          name: `${poolName(each)} (${number(free)} ${UNBOOKED})`,
        }))}
        onChange={onPool}
      />
      <div className={styles.pair}>
        <TextField
          label={COUNT_NAMES[form.kind]}
          type="number"
          min={1}
          max={512}
          value={form.count}
          error={errors.count}
          onChange={(count) => onChange({ count })}
        />
        <Together form={form} pool={pool} onChange={onChange} />
      </div>
      {ask.ok ? <p className={styles.words}>{ask.words}</p> : null}
      <When {...props} errors={errors} />
      <Checkbox
        label="Spot"
        hint={`May have to make way, ${durationText((pool.policy.spot?.noticeSeconds ?? 120) * 1_000)} after a notice`}
        checked={form.spot}
        onChange={(spot) => onChange({ spot })}
      />
      <More {...props} errors={errors} />
    </>
  );
}

function Together({
  form,
  pool,
  onChange,
}: Pick<BookFieldsProps, "form" | "pool" | "onChange">): ReactNode {
  if (form.kind === "gpu.mig") return <MigProfile form={form} pool={pool} onChange={onChange} />;
  if (form.kind === "gpu.slot") return null;
  const isNode = form.kind === "node";
  return (
    <Select
      label="Keep together"
      value={form.together}
      choices={TOGETHER_CHOICES.filter(
        ({ value }) => !isNode || (value !== "node" && value !== "nvlink"),
      )}
      onChange={(together) => onChange({ together })}
    />
  );
}

function MigProfile({
  form,
  pool,
  onChange,
}: Pick<BookFieldsProps, "form" | "pool" | "onChange">): ReactNode {
  const profiles = [...new Set(Object.values(pool.policy.migLayout ?? {}).flat())].toSorted();
  return (
    <Select
      label="Profile"
      value={form.profile}
      choices={[
        { value: "", name: "any" },
        ...profiles.map((profile) => ({ value: profile, name: profile })),
      ]}
      onChange={(profile) => onChange({ profile })}
    />
  );
}

type Moment = "now" | "tomorrow" | "week" | "at";

interface WithErrors {
  readonly errors: FormErrors;
}

function When({ form, errors, onChange }: BookFieldsProps & WithErrors): ReactNode {
  const { zone } = useZone();
  const now = useNow(60_000);
  const [morning, monday] = [tomorrow(now, zone), nextWeek(now, zone)];
  const begin = (start: number | null, more: Partial<BookForm> = {}): void => {
    const fault = start === null ? null : startFault(start, now);
    onChange({ ...more, start, startFault: fault, startTyped: null });
  };
  const choose = (moment: Moment): void => {
    if (moment === "now") begin(null);
    else if (moment === "tomorrow") begin(morning);
    else if (moment === "week") begin(monday, { duration: "7d" });
    else begin(inAnHour(now));
  };
  // Of a link whose start cannot be taken none is chosen yet.
  const moment = form.startTyped === null ? momentOf(form.start, morning, monday) : null;
  return (
    <>
      <Segmented
        label="Start"
        value={moment}
        error={form.start === null ? errors.start : null}
        choices={[
          { value: "now", name: "Now" },
          { value: "tomorrow", name: "Tomorrow" },
          { value: "week", name: "Next week" },
          { value: "at", name: "At…" },
        ]}
        onChange={choose}
      />
      {form.start === null ? null : (
        <LazyDateTime
          label={`Starts, in ${zone.replaceAll("_", " ")}`}
          value={form.start}
          min={now}
          error={errors.start ?? null}
          onChange={begin}
          onFault={(fault) => onChange({ startFault: fault ?? startFault(form.start ?? now, now) })}
        />
      )}
      <TextField
        label="For"
        value={form.duration}
        error={errors.duration}
        hint={LENGTH_HINT}
        maxLength={32}
        onChange={(duration) => onChange({ duration })}
      />
    </>
  );
}

function momentOf(start: number | null, morning: number, monday: number): Moment {
  if (start === null) return "now";
  if (start === monday) return "week";
  return start === morning ? "tomorrow" : "at";
}

const HOUR_MS = 3_600_000;

/** The next full hour that is at least half an hour away. */
function inAnHour(now: number): number {
  return Math.ceil((now + HOUR_MS / 2) / HOUR_MS) * HOUR_MS;
}

function More({ form, pool, errors, onChange }: BookFieldsProps & WithErrors): ReactNode {
  const isWhole = form.kind === "node";
  return (
    <details className={styles.more}>
      <summary>Lease, tag, whole nodes</summary>
      <div>
        <TextField
          label="Lapses unless renewed every"
          value={form.lease}
          error={errors.lease}
          hint="Empty: it lasts until its end"
          placeholder="5m"
          maxLength={32}
          onChange={(lease) => onChange({ lease })}
        />
        <TextField
          label="Project tag"
          value={form.project}
          error={errors.project}
          placeholder="prj_…"
          maxLength={56}
          onChange={(project) => onChange({ project })}
        />
        {kindOf(pool) === "gpu" ? (
          <Checkbox
            label="Whole nodes"
            hint="Set up with a profile and leased as machines"
            checked={isWhole}
            onChange={(checked) =>
              onChange({ kind: checked ? "node" : "gpu", count: checked ? "1" : "8" })
            }
          />
        ) : null}
        {isWhole ? (
          <TextField
            label="Node profile"
            value={form.profile}
            error={errors.profile}
            placeholder="ubuntu-24.04"
            maxLength={128}
            onChange={(profile) => onChange({ profile })}
          />
        ) : null}
      </div>
    </details>
  );
}
