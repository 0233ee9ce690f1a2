/** What operators watch, as Prometheus reads it: calls, the engine's work, and the process itself. */
import type { EngineObserver } from "@berth/engine";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30];
const STEP_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface Metrics {
  readonly registry: Registry;
  readonly observer: EngineObserver;
  /** One call of a method that the contract has. */
  called(method: string, code: string, seconds: number): void;
  readonly inFlight: Gauge;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const calls = new Counter({
    name: "berth_calls_total",
    help: "Calls by method and code; OK or an error code",
    labelNames: ["method", "code"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "berth_call_seconds",
    help: "Time to answer a call",
    labelNames: ["method"],
    buckets: CALL_SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: "berth_requests_in_flight",
    help: "Requests that are being answered",
    registers: [registry],
  });
  return {
    registry,
    observer: observer(registry),
    inFlight,
    called(method, code, took) {
      calls.inc({ method, code });
      seconds.observe({ method }, took);
    },
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

function observer(registry: Registry): EngineObserver {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers });
  const size = histogram("berth_batch_size", "Commands that one gated write carried", BATCH_SIZES);
  const plan = histogram("berth_plan_seconds", "Planning of one batch", STEP_SECONDS);
  const write = histogram(
    "berth_write_seconds",
    "One gated write, lock wait included",
    STEP_SECONDS,
  );
  const lag = histogram(
    "berth_lifecycle_lag_seconds",
    "How late due transitions came",
    STEP_SECONDS,
  );
  const lost = counter("berth_gate_lost_total", "Writes that another server's write came before");
  const locked = counter("berth_locked_plans_total", "Batches planned under the pool's lock");
  const unknown = counter("berth_unknown_outcomes_total", "Writes cut off after the send", [
    "became",
  ]);
  const violations = counter(
    "berth_violations_total",
    "Writes the database refused though the planner thought them right: always a bug",
    ["sqlstate"],
  );
  const healing = (name: string, help: string) => counter(`berth_healing_${name}_total`, help);
  const healingTries = healing(
    "tries",
    "Times other room was sought for a booking on failed hardware",
  );
  const healingSearches = healing("searches", "Those of the tries that searched the pool");
  const healed = counter("berth_healed_total", "Bookings whose units are all sound again");
  const degraded = counter("berth_degraded_total", "Bookings flagged for hardware that failed");
  const noticed = counter("berth_preemptions_total", "Spot bookings that were given notice");
  const drift = counter("berth_rollup_corrections_total", "Capacity rows a rebuild had to correct");
  const outages = counter(
    "berth_outages_total",
    "Stretches of over 3 s in which no server was there; leases were raised for each",
  );
  const held = new Gauge({
    name: "berth_leases_held",
    help: "1 while no lease lapses because the database's clock leapt: run `berth clock accept`",
    registers,
  });
  return {
    outage: () => outages.inc(),
    leasesHeld: (now) => held.set(now ? 1 : 0),
    batch(facts) {
      size.observe(facts.size);
      plan.observe(facts.planMs / 1_000);
      write.observe(facts.writeMs / 1_000);
    },
    gateLost: () => lost.inc(),
    lockedPlan: () => locked.inc(),
    unknownOutcome: (became) => unknown.inc({ became }),
    violation: (sqlstate) => violations.inc({ sqlstate }),
    correction: () => drift.inc(),
    healed(facts) {
      healingTries.inc(facts.tries);
      healingSearches.inc(facts.searches);
      healed.inc(facts.healed);
      degraded.inc(facts.degraded);
    },
    noticed: (count) => noticed.inc(count),
    lag: (ms) => lag.observe(ms / 1_000),
  };
}
