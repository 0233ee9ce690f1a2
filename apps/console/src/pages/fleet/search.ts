/** What the address of this page carries beside the tenant and the selection. */
import { defined, textOf, wordOf } from "../../app/search.ts";

export const NODE_STATES = [
  "ready",
  "provisioning",
  "unhealthy",
  "maintenance",
  "unreachable",
] as const;

export interface FleetSearch {
  /** Absent: the first one. */
  readonly site?: string;
  /** Nodes in this state alone. */
  readonly state?: (typeof NODE_STATES)[number];
  /** Nodes whose name or rack has this in it. */
  readonly q?: string;
  /** The node whose panel is open. */
  readonly node?: string;
}

export function fleetSearch(raw: Readonly<Record<string, unknown>>): FleetSearch {
  return defined({
    site: textOf(raw, "site"),
    state: wordOf(raw, "state", NODE_STATES),
    q: textOf(raw, "q"),
    node: textOf(raw, "node"),
  });
}
