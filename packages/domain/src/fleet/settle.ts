/**
 * What a node does once nothing holds its devices any more: what it no longer reports leaves it, and in a
 * shared pool it takes a new layout or number of slots, when all of its GPUs are idle.
 */
import type { NodeId } from "../ids.ts";
import type { Node, Unit } from "../model.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { isSpokenFor } from "../unit-reservations/find.ts";
import { byClassIndexId, cutGpu, isOutdated, isPart, isShared } from "./units.ts";

/**
 * Units that are cut anew in one turn, unless a single node has more: about as much as a large report.
 * What remains is done by the turns after it.
 */
const UNITS_A_TURN = 4_096;

/** To be called after whatever may have ended the last booking of a device: in the same write. */
export function settleNode(turn: Turn, nodeId: NodeId): void {
  const before = turn.state.node(nodeId);
  if (!before) return;
  const left = withoutUnreported(turn.state, before);
  const after = recut(turn, left);
  if (after === before) return;
  turn.apply({ kind: "node", before, after: { ...after, version: before.version + 1 } });
}

/** Idle nodes take the layout that the pool has by now: at its change, then turn by turn. */
export function takePendingLayouts(turn: Turn): void {
  let units = 0;
  for (const nodeId of turn.state.pendingLayouts()) {
    if (units >= UNITS_A_TURN) return;
    settleNode(turn, nodeId);
    units += turn.state.node(nodeId)?.units.length ?? 0;
  }
}

/** Whether no booking, present or future, holds a part of a GPU. */
export function gpusAreIdle(state: PoolState, node: Node): boolean {
  return node.units.every((unit) => !isPart(unit) || state.bookingsOf(unit.id).length === 0);
}

/** A device that is no longer reported was kept while it was booked; with its last booking it goes. */
function withoutUnreported(state: PoolState, node: Node): Node {
  if (![...node.gpus, ...node.units].some(({ removed }) => removed)) return node;
  const units = node.units.filter(
    ({ id, removed }) =>
      !removed || state.bookingsOf(id).length > 0 || isSpokenFor(state, node.id, id),
  );
  const gpus = node.gpus.filter(
    ({ id, removed }) => !removed || units.some(({ parentUnitId }) => parentUnitId === id),
  );
  const stays = units.length === node.units.length && gpus.length === node.gpus.length;
  return stays ? node : { ...node, units, gpus };
}

function recut(turn: Turn, node: Node): Node {
  const { config } = turn.state;
  if (!isShared(config) || !gpusAreIdle(turn.state, node) || !isOutdated(node, config)) return node;
  const known = new Map(node.units.map((unit) => [unit.id, unit]));
  const cut = { nodeId: node.id, config, derive: turn.derive, known };
  const parts = node.gpus.flatMap((gpu): Unit[] => cutGpu(gpu, cut));
  const units = [...parts, ...node.units.filter((unit) => !isPart(unit))].sort(byClassIndexId);
  return { ...node, units };
}
