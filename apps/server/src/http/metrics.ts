/** What operators watch, as Prometheus reads it: calls, the engine's work, and the process itself. */
import type { ApiObserver } from "@berth/api";
import { METHOD_NAMES } from "@berth/contract";
import type { EngineObserver } from "@berth/engine";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { SpanFigures } from "../tracing/exporting.ts";
import { engineObserver } from "./engine-metrics.ts";

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30];

export interface Metrics {
  readonly registry: Registry;
  readonly observer: EngineObserver;
  readonly apiObserver: ApiObserver;
  /** One call of a method that the contract has. */
  called(method: string, code: string, seconds: number): void;
  readonly inFlight: Gauge;
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Among them nodejs_eventloop_lag_p99_seconds: how long everything else waited for one thing.
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "berth_build_info",
    help: "1, with the version that this server is of",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const calls = new Counter({
    name: "berth_calls_total",
    help: "Calls by method and code; OK or an error code",
    labelNames: ["method", "code"],
    registers,
  });
  // A counter that first appears with a 1 has not risen, as far as Prometheus can see.
  for (const method of METHOD_NAMES) calls.inc({ method, code: "INTERNAL" }, 0);
  const seconds = new Histogram({
    name: "berth_call_seconds",
    help: "Time to answer a call",
    labelNames: ["method"],
    buckets: CALL_SECONDS,
    registers,
  });
  const inFlight = new Gauge({
    name: "berth_requests_in_flight",
    help: "Requests that are being answered",
    registers,
  });
  return {
    registry,
    observer: engineObserver(registry),
    apiObserver: apiObserver(registry),
    inFlight,
    called(method, code, took) {
      calls.inc({ method, code });
      seconds.observe({ method }, took);
    },
  };
}

function apiObserver(registry: Registry): ApiObserver {
  const registers = [registry];
  const lost = new Counter({
    name: "berth_audit_rows_lost_total",
    help: "Rows of the audit trail that could not be written; the calls they tell of went on",
    registers,
  });
  const policies = new Counter({
    name: "berth_policy_errors_total",
    help: "Decisions that were denied because a policy could not be evaluated",
    registers,
  });
  return {
    auditLost: (rows) => lost.inc(rows),
    policyFailed: () => policies.inc(),
  };
}

/** Who waits for room on this server, read when operators ask. */
export function waitersMetric(registry: Registry, waiting: () => number): void {
  new Gauge({
    name: "berth_waiters",
    help: "Callers of this server who wait for room",
    registers: [registry],
    collect() {
      this.set(waiting());
    },
  });
}

/** What became of finished spans; all 0 where traces are off. */
export function spansMetric(registry: Registry, figures: () => SpanFigures): void {
  new Counter({
    name: "berth_spans_total",
    help: "Finished spans: sent to the collector, failed on the way, or dropped for lack of room",
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(figures())) this.inc({ outcome }, count);
    },
  });
}
