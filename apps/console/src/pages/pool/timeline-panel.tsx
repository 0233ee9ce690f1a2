/** Booked against free over the coming day or week: a chart, and the same numbers as a table. */
import type { Pool, Timeline } from "@berth/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useCallback, useMemo } from "react";
import type { ReactNode } from "react";
import { useNow } from "../../app/now.ts";
import { useSession } from "../../app/session.tsx";
import { useZone } from "../../app/zone.tsx";
import { timeText } from "../../format/time.ts";
import { Segmented } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded, Loading } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useSetSearch } from "../use-set-search.ts";
import type { PoolSearch } from "./search.ts";
import styles from "./pool.module.css";

const StepChart = lazy(async () => ({
  default: (await import("../../chart/step-chart.tsx")).StepChart,
}));

const HOUR = 3_600_000;
const SPANS = {
  "24h": { ms: 24 * HOUR, stepMinutes: 30 },
  "7d": { ms: 168 * HOUR, stepMinutes: 120 },
} as const;

export function TimelinePanel({ pool }: { readonly pool: Pool }): ReactNode {
  const { span = "24h" } = useSearch({ from: "/pools/$poolId" });
  const set = useSetSearch<PoolSearch>();
  const { queries, tenantId } = useSession();
  const from = Math.floor(useNow(60_000) / HOUR) * HOUR;
  const { ms, stepMinutes } = SPANS[span];
  const input = { tenantId, poolId: pool.id, from, to: from + ms, stepMinutes };
  const query = useQuery({
    ...queries.capacity.timeline.queryOptions(input),
    placeholderData: keepPreviousData,
  });
  return (
    <Panel
      title="Booked and free"
      lead="Whole GPUs at each time, from this hour on"
      actions={
        <Segmented
          label="How far"
          bare
          value={span}
          choices={[
            { value: "24h", name: "24 h" },
            { value: "7d", name: "7 d" },
          ]}
          onChange={(next) => set({ span: next === "7d" ? next : undefined })}
        />
      }
    >
      <Loaded query={query} what="the timeline" lines={5}>
        {(timeline) =>
          timeline.allocatable === 0 && timeline.buckets.every(({ booked }) => booked === 0) ? (
            <Empty title="No whole GPUs">Nothing in this pool is booked by whole GPUs.</Empty>
          ) : (
            <Chart timeline={timeline} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Chart({ timeline }: { readonly timeline: Timeline }): ReactNode {
  const { zone } = useZone();
  const { allocatable, buckets, from, to } = timeline;
  const say = useCallback((at: number) => timeText(at, zone), [zone]);
  // The last value holds to the end of its bucket: it is said once more there.
  const times = useMemo(() => [...buckets.map(({ start }) => start), to], [buckets, to]);
  const series = useMemo(() => {
    const values = (name: "booked" | "free"): number[] => [
      ...buckets.map((bucket) => bucket[name]),
      buckets.at(-1)?.[name] ?? 0,
    ];
    return [
      { name: "booked", colour: "--booked", values: values("booked"), filled: true },
      { name: "free", colour: "--accent", values: values("free") },
    ];
  }, [buckets]);
  const most = Math.max(allocatable, ...buckets.map(({ booked, free }) => Math.max(booked, free)));
  const peak = Math.max(0, ...buckets.map(({ booked }) => booked));
  const label = `Booked and free GPUs from ${say(from)} to ${say(to)}: at most ${peak} of ${allocatable} booked`;
  return (
    <>
      <ul className={styles["legend"]}>
        <li>
          <i data-series="booked" /> booked then
        </li>
        <li>
          <i data-series="free" /> free then, of {allocatable}
        </li>
      </ul>
      <Suspense fallback={<Loading what="the chart" lines={5} />}>
        <StepChart label={label} times={times} series={series} most={most} zone={zone} say={say} />
      </Suspense>
      <details className={styles["numbers"]}>
        <summary>The same as a table</summary>
        <Table
          label={label}
          rows={buckets}
          rowKey={({ start }) => String(start)}
          columns={[
            { id: "from", name: "From", cell: ({ start }) => <Time at={start} /> },
            { id: "booked", name: "Booked then", end: true, cell: ({ booked }) => booked },
            { id: "free", name: "Free then", end: true, cell: ({ free }) => free },
          ]}
        />
      </details>
    </>
  );
}
