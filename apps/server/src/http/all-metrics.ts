/** Every metric of a server, in one registry. */
import type { Api } from "@berth/api";
import type { SpanFigures } from "../tracing/exporting.ts";
import { feedMetrics } from "./feed-metrics.ts";
import { type Metrics, createMetrics, spansMetric, waitersMetric } from "./metrics.ts";

/** What is read when somebody asks. */
export interface MetricSources {
  readonly feed: Api["feed"]["figures"];
  readonly waiting: () => number;
  readonly spans: () => SpanFigures;
}

export interface AllMetrics extends Metrics {
  /** Adds what is read from the parts, once they are there. */
  readFrom(sources: MetricSources): void;
}

export function createAllMetrics(version: string): AllMetrics {
  const metrics = createMetrics(version);
  const { registry } = metrics;
  return {
    ...metrics,
    readFrom({ feed, waiting, spans }) {
      feedMetrics(registry, feed);
      waitersMetric(registry, waiting);
      spansMetric(registry, spans);
    },
  };
}
