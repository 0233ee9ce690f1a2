/** How much of a gang would fit, and what it lacks for more. */
import { SCALARS } from "../model.ts";
import { freeUnits, scalarsMost } from "./fit.ts";
import type { TopologyDomain } from "./gang.ts";
import { timesOver } from "./matching.ts";
import { fitOf } from "./plan.ts";
import type { Plan } from "./plan.ts";

export interface Shortfall {
  /** Members for which the best topology domain has room; fewer than are asked for. */
  readonly room: number;
  /** What keeps that domain's nodes from taking one more each, as words. */
  readonly lacking: readonly string[];
}

/** Null when no node takes a member. */
export function shortfallOf(plan: Plan, domains: readonly TopologyDomain[]): Shortfall | null {
  let best: TopologyDomain | null = null;
  for (const domain of domains) if (!best || domain.room > best.room) best = domain;
  if (!best) return null;
  const lacking = new Set(best.berths.flatMap((berths) => lackingOn(plan, berths)));
  return { room: best.room, lacking: [...lacking].sort() };
}

function lackingOn(plan: Plan, { entry, most }: TopologyDomain["berths"][number]): string[] {
  if (plan.whole) return ["free nodes"];
  const { request } = plan;
  const scalars = SCALARS.filter((scalar) => {
    const asks = plan.asks.filter((ask) => ask.scalar === scalar);
    return asks.length > 0 && scalarsMost({ ...plan, asks }, entry, request) <= most;
  });
  if (scalars.length > 0) return scalars;
  const fit = fitOf(plan, entry);
  const free = freeUnits({ plan, entry, fit }, request);
  const inDomains = timesOver(fit.demand, free.masks, free.size) > most;
  if (inDomains) return ["gpu in one NVLink domain"];
  return [...new Set(request.devices.map((line) => line.class))];
}
