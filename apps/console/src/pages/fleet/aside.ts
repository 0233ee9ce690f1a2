/** What the dialogs of unit reservations share. */
import type { Node, NodeSchedule, UnitReservation } from "@berth/client";
import type { NodeStanding } from "../../access/can.ts";
import { shortId } from "../../facts/describe.ts";
import { gpusText } from "../../format/gpus.ts";

/** Nodes by id: those of the site on the screen, and those that are spoken of. */
export type NodesById = ReadonlyMap<
  string,
  Pick<Node, "name" | "poolId" | "topologyGen" | "units">
>;

export interface AsideDialogProps {
  readonly of: UnitReservation;
  readonly nodes: NodesById;
  /** Tenants of whom one owns the node. */
  readonly owners: readonly string[];
  readonly onClose: () => void;
}

/** Sites are listed only of tenants that the caller has a role on: the node is theirs. */
export function standingOf({ poolId }: NodeSchedule): NodeStanding {
  return { poolId, owned: true };
}

/** A node that nobody answered for is called by its id. */
export function nodeName(nodes: NodesById, nodeId: string): string {
  return nodes.get(nodeId)?.name ?? shortId(nodeId);
}

/** `GPU 0, 1`, or the count where the node is not on the screen. */
export function unitsText(nodes: NodesById, { nodeId, reservedUnitIds }: UnitReservation): string {
  const units = nodes.get(nodeId)?.units ?? [];
  const found = units.filter(({ id }) => reservedUnitIds.includes(id));
  return found.length === reservedUnitIds.length
    ? `GPU ${found.map(({ index }) => index).join(", ")}`
    : gpusText(reservedUnitIds.length);
}
