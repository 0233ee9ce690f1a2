/** The reference page of the metrics, written from the registry that a server answers /metrics from. */
import { createAllMetrics } from "./http/all-metrics.ts";

/** The library's own, which differ from one operating system to the next. */
const RUNTIME = /^(process|nodejs)_/;

/** Markdown; `packages/tools/src/gen-server-pages.ts` keeps it at apps/docs/reference/metrics.md. */
export function metricsPage(): string {
  return `${[
    "<!-- Generated from the registry of apps/server: run `pnpm generate`, do not edit. -->",
    "# Metrics",
    "`GET /metrics` answers these in Prometheus' text form, to who presents `BERTH_METRICS_TOKEN` as a bearer token. Each server " +
      "counts for itself, from its start on; sum over servers where the meaning is that of the whole. Durations are in seconds. A " +
      "histogram has the series `_bucket`, `_sum` and `_count`. [Dashboard and alerts](../operations.md#watching-it) are made of these names.",
    table(),
    "Beside them are those of the runtime and the operating system, as [prom-client](https://github.com/siimon/prom-client) has them, " +
      "among them `nodejs_eventloop_lag_p99_seconds` (how long everything waited for one thing, since the last scrape), " +
      "`process_resident_memory_bytes`, `process_cpu_seconds_total` and `process_start_time_seconds`.",
  ].join("\n\n")}\n`;
}

/** Sorted by name. */
function table(): string {
  const metrics = createAllMetrics("0");
  metrics.readFrom({ feed: unread, waiting: unread, spans: unread });
  const rows = metrics.registry
    .getMetricsAsArray()
    .filter(({ name }) => !RUNTIME.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => {
      const labels = "labelNames" in metric ? (metric.labelNames as readonly string[]) : [];
      // The library's objects are of a class a type, and do not say so otherwise.
      const type = metric.constructor.name.toLowerCase();
      return `| \`${metric.name}\` | ${type} | ${labels.join(", ")} | ${cell(metric.help)} |`;
    });
  return ["| Metric | Type | Labels | What it is |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
}

const cell = (text: string) => text.replaceAll("|", "\\|");

function unread(): never {
  throw new Error("the page lists metrics and reads none");
}
