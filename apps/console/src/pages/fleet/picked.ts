/** Why nothing can be done to the GPUs that are picked. Pure. */
import type { UnitSchedule } from "@berth/client";
import { gpusText } from "../../format/gpus.ts";

/** GPUs are kept for somebody by their VFIO group; null: all of them have one. */
export function vfioRefusal(units: readonly Pick<UnitSchedule, "vfioGroup">[]): string | null {
  const lacking = units.filter(({ vfioGroup }) => vfioGroup === null).length;
  if (lacking === 0) return null;
  const which =
    lacking === units.length
      ? `The chosen ${lacking === 1 ? "GPU" : "GPUs"}`
      : `${gpusText(lacking)} of the ${units.length} chosen`;
  const verb = lacking === 1 ? "has" : "have";
  return `${which} ${verb} no VFIO group, without which nothing is set aside.`;
}

/** Null: at least one of them would change. */
export function healthRefusal(
  units: readonly Pick<UnitSchedule, "healthy">[],
  healthy: boolean,
): string | null {
  if (units.some((unit) => unit.healthy !== healthy)) return null;
  const state = healthy ? "sound" : "faulty";
  return units.length === 1
    ? `The chosen GPU is ${state} already.`
    : `The ${units.length} chosen GPUs are ${state} already.`;
}
