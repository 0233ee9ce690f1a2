/** What held units count as, against a quota. */
import type { UnitId } from "./ids.ts";
import { type Binding, RESOURCES, type Resource, SCALARS, type Unit } from "./model.ts";
import type { Member } from "./model.ts";

/**
 * Units by the resource that they are charged as, zeros left out, in the order of `RESOURCES`. A whole
 * node counts as one `node` and as its GPUs, however these are shared out; anything else as what it is.
 * @param units of one member
 */
export function heldAmounts(
  binding: Binding,
  units: readonly Pick<Unit, "id" | "class" | "parentUnitId">[],
): ReadonlyMap<Resource, number> {
  const sums = new Map<Resource, number>();
  const add = (resource: Resource): void => {
    sums.set(resource, (sums.get(resource) ?? 0) + 1);
  };
  const gpus = new Set<string>();
  for (const unit of units) {
    if (binding === "hold" || unit.class === "nic.vf" || unit.class === "disk") add(unit.class);
    else gpus.add(unit.parentUnitId ?? unit.id);
  }
  if (binding === "node") sums.set("node", 1);
  if (gpus.size > 0) sums.set("gpu", gpus.size);
  return new Map(
    RESOURCES.flatMap((resource) => {
      const amount = sums.get(resource);
      return amount === undefined ? [] : [[resource, amount] as const];
    }),
  );
}

/** What members use together at every instant of their window, units and scalars. */
export function amountsHeld(
  held: { readonly members: readonly Member[]; readonly binding: Binding },
  unitOf: (id: UnitId) => Unit | undefined,
): ReadonlyMap<Resource, number> {
  const sums = new Map<Resource, number>();
  const add = (resource: Resource, amount: number): void => {
    if (amount > 0) sums.set(resource, (sums.get(resource) ?? 0) + amount);
  };
  for (const member of held.members) {
    const units = member.unitIds.flatMap((id) => unitOf(id) ?? []);
    for (const [resource, amount] of heldAmounts(held.binding, units)) add(resource, amount);
    for (const scalar of SCALARS) add(scalar, member.resources[scalar]);
  }
  return sums;
}
