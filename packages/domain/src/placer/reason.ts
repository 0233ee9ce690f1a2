/** Says why a request does not fit, so that a person can act on it. Never whose bookings are in the way. */
import type { Scalar } from "../model.ts";
import { SCALARS } from "../model.ts";
import { NODE_CAUSES } from "../refusal.ts";
import type { Cause, Reason } from "../refusal.ts";
import { wantsWholeLinked } from "./node-binding.ts";
import type { Plan } from "./plan.ts";
import type { Shortfall } from "./shortfall.ts";

/** A node that takes one member comes last: the whole does not fit. */
const ORDER: readonly Cause[] = [...NODE_CAUSES, "GANG"];

/** What the walk over the nodes found; the counts add up to `nodes`. */
export interface Findings {
  readonly nodes: number;
  readonly counts: ReadonlyMap<Cause, number>;
  /** Scalars that some node had too little of. */
  readonly scarce: ReadonlySet<Scalar>;
  /** How much of it would fit, when more than one member is asked for and some node takes one. */
  readonly gang?: Shortfall | null;
}

/**
 * The cause of the most nodes leads; equals in the order of the filters.
 * @param options without `showWithheld` a withheld unit reads as a booked one
 */
export function reasonOf(
  plan: Plan,
  found: Findings,
  options: { readonly showWithheld?: boolean | undefined } = {},
): Reason {
  const findings = options.showWithheld ? found : withWithheldAsBusy(found);
  const asked = describe(plan);
  if (findings.nodes === 0) {
    return { code: "EMPTY_POOL", message: `${asked}: the pool has no nodes`, blocked: [] };
  }
  const blocked = ORDER.map((cause) => ({ cause, nodes: findings.counts.get(cause) ?? 0 }))
    .filter(({ nodes }) => nodes > 0)
    .sort((a, b) => b.nodes - a.nodes);
  const clauses = blocked.map(({ cause, nodes }, i) => {
    const who = i === 0 ? `${nodes} of ${findings.nodes} nodes` : `${nodes}`;
    return `${who} ${clause(plan, cause, { one: nodes === 1, findings })}`;
  });
  const code = (blocked[0] as (typeof blocked)[number]).cause;
  return { code, message: `${asked}: ${clauses.join(", ")}`, blocked };
}

function withWithheldAsBusy(found: Findings): Findings {
  const withheld = found.counts.get("WITHHELD") ?? 0;
  if (withheld === 0) return found;
  const counts = new Map(found.counts);
  counts.delete("WITHHELD");
  counts.set("BUSY", (counts.get("BUSY") ?? 0) + withheld);
  return { ...found, counts };
}

function describe(plan: Plan): string {
  const { request, size, topologyKey } = plan;
  const one = describeMember(plan);
  const place = topologyKey === undefined ? "" : ` on one ${topologyKey}`;
  if (request.gang) return `a gang of ${size} with ${one} each${place}`;
  return plan.whole && size > 1 ? wholeNodes(plan, size) : one;
}

function wholeNodes({ request }: Plan, count: number): string {
  const nodes = count === 1 ? "1 whole node" : `${count} whole nodes`;
  return wantsWholeLinked(request) ? `${nodes} with nvlink-all` : nodes;
}

function describeMember(plan: Plan): string {
  if (plan.whole) return wholeNodes(plan, 1);
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
  about: { readonly one: boolean; readonly findings: Findings },
): string {
  const are = about.one ? "is" : "are";
  const have = about.one ? "has" : "have";
  switch (cause) {
    case "NODE_STATE":
      return `${are} not ready`;
    case "MAINTENANCE":
      return `${are} in maintenance in this window`;
    case "UNHEALTHY":
      return `${have} ${plan.whole ? "faulty units" : "too few healthy units"}`;
    case "WITHHELD":
      return `${have} units that are reserved for others`;
    case "SELECTOR":
      return `${about.one ? "does" : "do"} not match the selector${selected(plan)}`;
    case "CLASS":
      return `${have} ${lackingClass(plan)}`;
    case "COUNT":
      return plan.whole
        ? `${have} GPUs without a unit, or no units at all`
        : `${have} ${tooFew(plan)} even when empty`;
    case "BUSY":
      return `${are} booked in this window`;
    case "NVLINK":
      return plan.whole
        ? `${have} GPUs that are not all in one NVLink domain`
        : `${have} no NVLink domain with ${linkedMost(plan)} free gpu`;
    case "SCALAR":
      return `${have} too little ${SCALARS.filter((s) => about.findings.scarce.has(s)).join(" and ")}`;
    case "TOPOLOGY_KEY":
      return `${have} no label ${plan.topologyKey ?? ""}`;
    case "GANG":
      return `${have} room for ${gangRoom(plan, about.findings.gang ?? null)}`;
    case "EMPTY_POOL":
      return `${are} ruled out`;
  }
}

/** Which wishes there are, as they were written: a typo is seen at a glance. */
function selected({ request }: Plan): string {
  const wishes = request.devices.flatMap(({ selector = {} }) => [
    ...(selector.model === undefined ? [] : [`model ${selector.model}`]),
    ...(selector.profile === undefined ? [] : [`profile ${selector.profile}`]),
    ...(selector.memoryGiB === undefined ? [] : [`at least ${selector.memoryGiB} GiB`]),
    ...Object.keys(selector.labels ?? {}).map((key) => `label ${key}`),
    ...(selector.unitIds === undefined ? [] : ["unitIds"]),
  ]);
  const [first, second, ...more] = new Set(wishes);
  const named = [first, second, more.length > 0 ? `${more.length} more` : undefined];
  if (first === undefined) return "";
  return ` (${named.filter((wish) => wish !== undefined).join(", ")})`;
}

/** Of several domains only the best one counts: members cannot be on two. */
function gangRoom(plan: Plan, gang: Shortfall | null): string {
  const { size, topologyKey, request } = plan;
  const what = request.gang ? "members" : "nodes";
  const together = topologyKey === undefined ? "in all" : `at most on one ${topologyKey}`;
  const lacking = gang && gang.lacking.length > 0 ? `, short of ${gang.lacking.join(" and ")}` : "";
  return `${gang?.room ?? 0} of ${size} ${what} ${together}${lacking}`;
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
