/** Says why a request does not fit, so that a person can act on it. Never whose bookings are in the way. */
import type { Scalar } from "../model.ts";
import { SCALARS } from "../model.ts";
import { NODE_CAUSES } from "../refusal.ts";
import type { Cause, Reason } from "../refusal.ts";
import type { Plan } from "./plan.ts";

/** What the walk over the nodes found; the counts add up to `nodes`. */
export interface Findings {
  readonly nodes: number;
  readonly counts: ReadonlyMap<Cause, number>;
  /** Scalars that some node had too little of. */
  readonly scarce: ReadonlySet<Scalar>;
}

/** The cause of the most nodes leads; equals in the order of the filters. */
export function reasonOf(plan: Plan, findings: Findings): Reason {
  const asked = describe(plan);
  if (findings.nodes === 0) {
    return { code: "EMPTY_POOL", message: `${asked}: the pool has no nodes`, blocked: [] };
  }
  const blocked = NODE_CAUSES.map((cause) => ({ cause, nodes: findings.counts.get(cause) ?? 0 }))
    .filter(({ nodes }) => nodes > 0)
    .sort((a, b) => b.nodes - a.nodes);
  const clauses = blocked.map(({ cause, nodes }, i) => {
    const who = i === 0 ? `${nodes} of ${findings.nodes} nodes` : `${nodes}`;
    return `${who} ${clause(plan, cause, { one: nodes === 1, scarce: findings.scarce })}`;
  });
  const code = (blocked[0] as (typeof blocked)[number]).cause;
  return { code, message: `${asked}: ${clauses.join(", ")}`, blocked };
}

function describe(plan: Plan): string {
  const { devices, topology } = plan.request;
  const lines = devices.map((line) => {
    const linked = topology === "any" && line.topology === "nvlink-all" && line.class === "gpu";
    return `${line.count} ${line.class}${linked ? " with nvlink-all" : ""}`;
  });
  const scalars = plan.asks.map(({ scalar, amount }) => `${amount} ${scalar}`);
  const whole = topology === "nvlink-all" ? " with nvlink-all" : "";
  return [...lines, ...scalars].join(" + ") + whole;
}

function clause(
  plan: Plan,
  cause: Cause,
  about: { readonly one: boolean; readonly scarce: ReadonlySet<Scalar> },
): string {
  const are = about.one ? "is" : "are";
  const have = about.one ? "has" : "have";
  switch (cause) {
    case "NODE_STATE":
      return `${are} not ready`;
    case "MAINTENANCE":
      return `${are} in maintenance in this window`;
    case "UNHEALTHY":
      return `${have} too few healthy units`;
    case "SELECTOR":
      return `${about.one ? "does" : "do"} not match the selector`;
    case "CLASS":
      return `${have} ${lackingClass(plan)}`;
    case "COUNT":
      return `${have} ${tooFew(plan)} even when empty`;
    case "BUSY":
      return `${are} booked in this window`;
    case "NVLINK":
      return `${have} no NVLink domain with ${linkedMost(plan)} free gpu`;
    case "SCALAR":
      return `${have} too little ${SCALARS.filter((s) => about.scarce.has(s)).join(" and ")}`;
    default:
      return `${are} ruled out`;
  }
}

function lackingClass(plan: Plan): string {
  const { foreign, sharing, request } = plan;
  if (foreign.length > 0) {
    return `no ${[...new Set(foreign)].join(" or ")} units, as the pool's sharing mode is ${sharing}`;
  }
  return `not the unit classes asked for (${[...new Set(request.devices.map((l) => l.class))].join(", ")})`;
}

function tooFew(plan: Plan): string {
  const [line, ...others] = plan.request.devices;
  if (!line || others.length > 0) return "too few units for all lines together";
  return `fewer than ${line.count} ${line.selector ? "matching " : ""}${line.class}`;
}

function linkedMost(plan: Plan): number {
  const { groups, bySet } = plan.demand;
  return Math.max(...groups.map((lines) => bySet[lines] as number));
}
