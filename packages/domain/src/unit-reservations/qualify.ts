/** Which units can be set aside: whole GPUs that are there and have a VFIO group. */
import type { UnitId } from "../ids.ts";
import type { Node } from "../model.ts";

/** Why the unit cannot be; null when it can. Parts of GPUs never can, nor GPUs that are shared out in parts. */
export function whyNot(node: Node, unitId: UnitId): string | null {
  const unit = [...node.units, ...node.gpus].find(({ id }) => id === unitId);
  if (!unit) return `unit ${unitId} is not on node ${node.name}`;
  if (unit.removed) return `unit ${unitId} is no longer reported by node ${node.name}`;
  if (unit.class !== "gpu") return `unit ${unitId} is a ${unit.class}, not a whole GPU`;
  if (node.gpus.includes(unit)) return `unit ${unitId} is shared out in parts by its pool`;
  if (unit.vfioGroup === null) return `unit ${unitId} has no VFIO group`;
  return null;
}
