/** What operators watch of the live feed: read when they ask. */
import type { Api } from "@berth/api";
import { Counter, Gauge, type Registry } from "prom-client";

export function feedMetrics(registry: Registry, figures: Api["feed"]["figures"]): void {
  const registers = [registry];
  new Gauge({
    name: "berth_streams",
    help: "Open event streams",
    registers,
    collect() {
      this.set(figures().streams);
    },
  });
  new Gauge({
    name: "berth_feed_lag_seconds",
    help: "How far the feed is behind the newest commit; 0 while nobody watches",
    registers,
    collect() {
      this.set(figures().lagMs / 1_000);
    },
  });
  new Counter({
    name: "berth_streams_ended_total",
    help: "Event streams that were ended by the server, by reason",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(figures().ended)) this.inc({ reason }, count);
    },
  });
}
