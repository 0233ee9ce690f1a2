/** What the engine does, as Prometheus reads it. */
import type { EngineObserver } from "@berth/engine";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

const STEP_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const BECAME = ["committed", "aborted", "unresolved"] as const;

interface Makers {
  counter(name: string, help: string, labelNames?: readonly string[]): Counter;
  seconds(name: string, help: string, labelNames?: readonly string[]): Histogram;
}

export function engineObserver(registry: Registry): EngineObserver {
  const registers = [registry];
  const makers: Makers = {
    counter: (name, help, labelNames = []) =>
      new Counter({ name, help, labelNames: [...labelNames], registers }),
    seconds: (name, help, labelNames = []) =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets: STEP_SECONDS, registers }),
  };
  const size = new Histogram({
    name: "berth_batch_size",
    help: "Commands that one gated write carried",
    buckets: BATCH_SIZES,
    registers,
  });
  const held = new Gauge({
    name: "berth_leases_held",
    help: "1 while no lease lapses because the database's clock leapt: run `berth clock accept`",
    registers,
  });
  return {
    leasesHeld: (now) => held.set(now ? 1 : 0),
    ...writes(makers, size),
    ...alarms(makers),
    ...bookings(makers),
  };
}

/** Batches and the wait for the database. */
function writes({ counter, seconds }: Makers, size: Histogram): EngineObserver {
  const plan = seconds("berth_plan_seconds", "Planning of one batch: the placer's time");
  const write = seconds(
    "berth_write_seconds",
    "One gated write by outcome, the wait for the pool's row included",
    ["outcome"],
  );
  const wait = seconds(
    "berth_lock_wait_seconds",
    "Wait for a pool's lock by a batch that is planned under it",
  );
  const lag = seconds("berth_lifecycle_lag_seconds", "How late due transitions came");
  const lost = counter("berth_gate_lost_total", "Writes that another server's write came before");
  const locked = counter("berth_locked_plans_total", "Batches planned under the pool's lock");
  return {
    batch(facts) {
      size.observe(facts.size);
      plan.observe(facts.planMs / 1_000);
      write.observe({ outcome: facts.outcome }, facts.writeMs / 1_000);
    },
    gateLost: () => lost.inc(),
    lockedPlan: () => locked.inc(),
    lockWait: (ms) => wait.observe(ms / 1_000),
    lag: (ms) => lag.observe(ms / 1_000),
  };
}

/** What somebody should look at. */
function alarms({ counter }: Makers): EngineObserver {
  const unknown = counter("berth_unknown_outcomes_total", "Writes cut off after the send", [
    "became",
  ]);
  // A counter that first appears with a 1 has not risen, as far as Prometheus can see.
  for (const became of BECAME) unknown.inc({ became }, 0);
  const violations = counter(
    "berth_violations_total",
    "Writes the database refused though the planner thought them right: always a bug",
    ["sqlstate"],
  );
  const drift = counter("berth_rollup_corrections_total", "Capacity rows a rebuild had to correct");
  const outages = counter(
    "berth_outages_total",
    "Stretches of over 3 s in which no server was there; leases were raised for each",
  );
  return {
    unknownOutcome: (became) => unknown.inc({ became }),
    violation: (sqlstate) => violations.inc({ sqlstate }),
    correction: () => drift.inc(),
    outage: () => outages.inc(),
  };
}

/** What became of bookings by no wish of their holders. */
function bookings({ counter }: Makers): EngineObserver {
  const tries = counter(
    "berth_healing_tries_total",
    "Times other room was sought for a booking on failed hardware",
  );
  const searches = counter(
    "berth_healing_searches_total",
    "Those of the tries that searched the pool",
  );
  const healed = counter("berth_healed_total", "Bookings whose units are all sound again");
  const degraded = counter("berth_degraded_total", "Bookings flagged for hardware that failed");
  const noticed = counter("berth_preemptions_total", "Spot bookings that were given notice");
  return {
    healed(facts) {
      tries.inc(facts.tries);
      searches.inc(facts.searches);
      healed.inc(facts.healed);
      degraded.inc(facts.degraded);
    },
    noticed: (count) => noticed.inc(count),
  };
}
