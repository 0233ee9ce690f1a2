/** What may be done to the two pools, as plain data, so that a failed history can be read. */
import fc from "fast-check";
import { NODE_STATES } from "../../model.ts";
import {
  type Hardware,
  type PolicyDraw,
  type Start,
  TENANTS,
  hardwareArb,
  policyArb,
  startArb,
  tightStartArb,
} from "./start.ts";

export interface CreateStep {
  readonly do: "create";
  readonly pool: number;
  readonly tenant: (typeof TENANTS)[number];
  readonly form: "gang" | "hold" | "keyed" | "leases" | "leaseGang";
  readonly count: number;
  readonly size: number;
  /** Units by bits, of the node that it is about; null is any. */
  readonly exactly: { readonly node: number; readonly units: number } | null;
  readonly nvlink: boolean;
  readonly vfs: number;
  readonly vcpu: number;
  readonly spot: boolean;
  /** Minutes. */
  readonly ahead: number;
  readonly lasts: number;
  readonly leaseSeconds: number | null;
  readonly waits: number;
  readonly server: string;
}

export type Step =
  | CreateStep
  | { readonly do: "release" | "renew" | "terminate"; readonly which: number }
  | { readonly do: "extend"; readonly which: number; readonly by: number }
  | { readonly do: "pass" | "outage"; readonly minutes: number }
  | { readonly do: "distrust" }
  | {
      readonly do: "state";
      readonly node: number;
      readonly state: (typeof NODE_STATES)[number];
    }
  | {
      readonly do: "health";
      readonly node: number;
      readonly unit: number;
      readonly healthy: boolean;
    }
  | {
      readonly do: "maintain";
      readonly node: number;
      readonly ahead: number;
      readonly lasts: number;
    }
  | { readonly do: "callOff" | "move" | "remove"; readonly node: number }
  | { readonly do: "report"; readonly node: number; readonly pool: number; readonly like: Hardware }
  | {
      readonly do: "offer";
      readonly pool: number;
      readonly to: (typeof TENANTS)[number];
      readonly max: number;
      readonly priority: number;
    }
  | { readonly do: "unoffer"; readonly pool: number; readonly to: (typeof TENANTS)[number] }
  | { readonly do: "policy"; readonly pool: number; readonly like: PolicyDraw }
  | {
      readonly do: "setAside";
      readonly node: number;
      readonly units: number;
      readonly ahead: number;
      readonly lasts: number | null;
      readonly audience: readonly string[];
    }
  | {
      readonly do: "toMarket" | "reclaim" | "cancelTerm" | "reaffirm";
      readonly which: number;
      readonly units: number;
    }
  | { readonly do: "stopWaiting"; readonly which: number }
  | { readonly do: "server"; readonly id: string };

const which = fc.nat({ max: 30 });
const node = fc.constantFrom(0, 0, 1, 1, 2, 3, 4);
const pool = fc.constantFrom(0, 0, 0, 0, 0, 1);
const tenant = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...TENANTS.slice(0, -1)) },
  { weight: 1, arbitrary: fc.constantFrom(...TENANTS) },
);
const ahead = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 }));
const lasts = fc.integer({ min: 1, max: 10 });
const server = fc.constantFrom("s1", "s1", "s2");
const is = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);
const one = <T extends string>(...names: readonly T[]): fc.Arbitrary<T> =>
  fc.constantFrom(...names);
const rarely = fc.integer({ min: 0, max: 6 }).map((n) => n === 0);

const createArb: fc.Arbitrary<CreateStep> = fc.record({
  do: is("create"),
  pool,
  tenant,
  form: one("hold", "hold", "hold", "hold", "gang", "keyed", "leases", "leaseGang"),
  count: fc.constantFrom(1, 1, 2, 2, 3, 4, 8),
  size: fc.constantFrom(2, 2, 3),
  exactly: fc.option(fc.record({ node, units: fc.integer({ min: 1, max: 255 }) }), { freq: 8 }),
  nvlink: rarely,
  vfs: fc.constantFrom(0, 0, 0, 1),
  vcpu: fc.constantFrom(0, 0, 4, 16),
  spot: fc.constantFrom(true, true, false),
  ahead,
  lasts,
  leaseSeconds: fc.constantFrom(null, null, 60, 200),
  waits: fc.constantFrom(0, 0, 1, 4, 12),
  server,
});

/** Of two small nodes. */
const tightCreateArb: fc.Arbitrary<CreateStep> = fc.record({
  do: is("create"),
  pool: fc.constant(0),
  tenant: fc.constantFrom("t-a", "t-b"),
  form: one("hold", "hold", "hold", "gang", "leases"),
  count: fc.constantFrom(1, 1, 2, 3),
  size: fc.constant(2),
  exactly: fc.constant(null),
  nvlink: fc.constant(false),
  vfs: fc.constant(0),
  vcpu: fc.constantFrom(0, 0, 16),
  spot: fc.boolean(),
  ahead: fc.constantFrom(0, 0, 1, 2, 4, 6),
  lasts: fc.integer({ min: 1, max: 8 }),
  leaseSeconds: fc.constant(null),
  waits: fc.constantFrom(0, 0, 10),
  server: fc.constant("s1"),
});

const STATES = [...NODE_STATES, "ready", "ready", "ready"] as const;

type Weighted = readonly fc.WeightedArbitrary<Step>[];

const ENDS: Weighted = [
  {
    weight: 5,
    arbitrary: fc.record({ do: one("release", "release", "renew", "terminate"), which }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: is("extend"), which, by: fc.integer({ min: 0, max: 6 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: is("pass"), minutes: fc.constantFrom(0.5, 1, 1, 2, 4) }),
  },
];

const MARKET: Weighted = [{ weight: 20, arbitrary: createArb }, ...ENDS];
const TIGHT: Weighted = [{ weight: 20, arbitrary: tightCreateArb }, ...ENDS];

const FAULTS: Weighted = [
  {
    weight: 2,
    arbitrary: fc.record({ do: is("state"), node, state: fc.constantFrom(...STATES) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is("health"),
      node,
      unit: fc.nat({ max: 20 }),
      healthy: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: is("maintain"), node, ahead, lasts }) },
  { weight: 1, arbitrary: fc.record({ do: is("callOff"), node }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: is("report"), node, pool, like: fc.record(hardwareArb) }),
  },
];

const TERMS: Weighted = [
  {
    weight: 3,
    arbitrary: fc.record({
      do: is("setAside"),
      node,
      units: fc.integer({ min: 1, max: 255 }),
      ahead,
      lasts: fc.oneof(lasts, lasts, fc.constant(null)),
      audience: fc.subarray(["t-a", "t-b", "t-own"]),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: one("toMarket", "toMarket", "reclaim", "cancelTerm", "reaffirm", "reaffirm"),
      which,
      units: fc.nat({ max: 255 }),
    }),
  },
];

const OWNER: Weighted = [
  {
    weight: 1,
    arbitrary: fc.record({
      do: is("offer"),
      pool,
      to: tenant,
      max: fc.constantFrom(0, 2, 6, 20),
      priority: fc.nat({ max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is("unoffer"), pool, to: tenant }) },
  { weight: 1, arbitrary: fc.record({ do: is("policy"), pool, like: fc.record(policyArb) }) },
  { weight: 2, arbitrary: fc.record({ do: one("move", "move", "remove"), node }) },
];

const SERVERS: Weighted = [
  { weight: 1, arbitrary: fc.record({ do: is("stopWaiting"), which }) },
  { weight: 1, arbitrary: fc.record({ do: is("server"), id: server }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: is("outage"), minutes: fc.constantFrom(1, 3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: is("distrust") }) },
];

const THEMES: readonly Weighted[] = [
  [...MARKET, ...FAULTS, ...TERMS, ...OWNER, ...SERVERS],
  MARKET,
  [...MARKET, ...FAULTS],
  [...MARKET, ...FAULTS, ...TERMS],
];

export interface History {
  readonly start: Start;
  readonly steps: readonly Step[];
  /** Whether each batch is taken back and done again. */
  readonly undoing: boolean;
  /** After how many batches a follower reads. */
  readonly lag: number;
}

const checking = { undoing: fc.boolean(), lag: fc.integer({ min: 1, max: 4 }) };
const stepsOf = (...themes: readonly Weighted[]): fc.Arbitrary<Step[]> =>
  fc.oneof(...themes.map((of) => fc.array(fc.oneof(...of), { maxLength: 40, size: "max" })));

/** Some of everything, or much of what belongs together. */
export const historyArb: fc.Arbitrary<History> = fc.oneof(
  fc.record({ start: startArb, steps: stepsOf(...THEMES), ...checking }),
  fc.record({
    start: tightStartArb,
    steps: stepsOf(TIGHT, [...TIGHT, ...FAULTS], [...TIGHT, ...FAULTS, ...TERMS]),
    ...checking,
  }),
);

const longHistoryArbs = new Map<number, fc.Arbitrary<Pick<History, "start" | "steps">>>();

/** The history of a seed, of so many steps, for those who play it through something bigger than the domain. */
export function historyOf(seed: number, length: number): Pick<History, "start" | "steps"> {
  const known = longHistoryArbs.get(length) ?? longHistoryArb(length);
  longHistoryArbs.set(length, known);
  const [history] = fc.sample(known, { seed, numRuns: 1 });
  return history as Pick<History, "start" | "steps">;
}

function longHistoryArb(length: number): fc.Arbitrary<Pick<History, "start" | "steps">> {
  const steps = (...themes: readonly Weighted[]): fc.Arbitrary<Step[]> => {
    const arrays = themes.map((of) =>
      fc.array(fc.oneof(...of), { minLength: length, maxLength: length }),
    );
    return fc.oneof(...arrays);
  };
  return fc.oneof(
    fc.record({ start: startArb, steps: steps(...THEMES) }),
    fc.record({ start: tightStartArb, steps: steps(TIGHT, [...TIGHT, ...FAULTS, ...TERMS]) }),
  );
}
