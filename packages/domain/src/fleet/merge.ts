/** The devices of a node after a report: new ones come, known ones keep their keys, what is gone leaves. */
import type { NodeId, UnitId } from "../ids.ts";
import type { Node, Unit } from "../model.ts";
import type { Turn } from "../turn.ts";
import { isSpokenFor } from "../unit-reservations/find.ts";
import { type NodeReport, type ReportedUnit, reportedUnits } from "./report.ts";
import { gpusAreIdle } from "./settle.ts";
import { type Cut, byClassIndexId, cutGpu, gpusOf, isPart, isShared } from "./units.ts";

type Units = Pick<Node, "gpus" | "units">;

/** Of a node that was not there. */
export function newUnits(turn: Turn, nodeId: NodeId, report: NodeReport): Units {
  const { gpus, others } = reportedUnits(nodeId, report, turn.derive);
  return unitsIn(turn, nodeId, {
    gpus: gpus.map((gpu) => sound(gpu, true)),
    others: others.map((unit) => sound(unit, true)),
    known: [],
  });
}

/** What its pool makes of a node's devices, when no part of its GPUs is booked. */
export function unitsIn(
  turn: Turn,
  nodeId: NodeId,
  of: { gpus: readonly Unit[]; others: readonly Unit[]; known: readonly Unit[] },
): Units {
  const { config } = turn.state;
  if (!isShared(config))
    return { gpus: [], units: [...of.gpus, ...of.others].sort(byClassIndexId) };
  const known = new Map(of.known.map((unit) => [unit.id, unit]));
  const cut = { nodeId, config, derive: turn.derive, known };
  const parts = of.gpus.flatMap((gpu) => cutGpu(gpu, cut));
  return { gpus: of.gpus, units: [...parts, ...of.others].sort(byClassIndexId) };
}

/**
 * A device that is no longer reported leaves, or stays as removed while a live booking holds it or a part
 * of it, or a unit reservation speaks for it. While a part of any GPU is booked, the GPUs that are there stay cut as they are; new ones are cut
 * as the pool's policy says, and so are all when none is booked.
 */
export function mergedUnits(turn: Turn, before: Node, report: NodeReport): Units {
  const reported = reportedUnits(before.id, report, turn.derive);
  const isBooked = ({ id }: Unit): boolean =>
    turn.state.bookingsOf(id).length > 0 || isSpokenFor(turn.state, before.id, id);
  const parts = Map.groupBy(before.units.filter(isPart), (part) => part.parentUnitId as UnitId);
  const partsOf = ({ id }: Unit): Unit[] => parts.get(id) ?? [];
  const gpus = merged(gpusOf(before), reported.gpus, (gpu) =>
    [gpu, ...partsOf(gpu)].some(isBooked),
  ).sort(byClassIndexId);
  const others = merged(
    before.units.filter((unit) => unit.class !== "gpu" && !isPart(unit)),
    reported.others,
    isBooked,
  );
  const { config } = turn.state;
  if (!isShared(config) || gpusAreIdle(turn.state, before))
    return unitsIn(turn, before.id, { gpus, others, known: before.units });

  const known = new Map(before.units.map((unit) => [unit.id, unit]));
  const had = new Map(before.gpus.map((gpu) => [gpu.id, gpu]));
  const cut = { nodeId: before.id, config, derive: turn.derive, known };
  const kept = gpus.flatMap((gpu) => {
    const old = had.get(gpu.id);
    if (!old) return cutGpu(gpu, cut);
    if (gpu.removed)
      return partsOf(gpu)
        .filter(isBooked)
        .map((part) => ({ ...part, removed: true }));
    return old.removed ? backAgain(gpu, partsOf(gpu), cut) : partsOf(gpu);
  });
  return { gpus, units: [...kept, ...others].sort(byClassIndexId) };
}

/** A GPU that was missing while parts of it were booked: whole again when these are parts of its layout. */
function backAgain(gpu: Unit, booked: readonly Unit[], cut: Cut): Unit[] {
  const parts = cutGpu(gpu, cut);
  const ids = new Set(parts.map(({ id }) => id));
  const fits = booked.every(({ id }) => ids.has(id));
  return fits ? parts : booked.map((part) => ({ ...part, removed: false }));
}

/** The reported ones, and those that are missing and have to stay. */
function merged(
  before: readonly Unit[],
  reported: readonly ReportedUnit[],
  stays: (unit: Unit) => boolean,
): Unit[] {
  const known = new Map(before.map((unit) => [unit.id, unit]));
  const units = reported.map((unit) => {
    const old = known.get(unit.id);
    known.delete(unit.id);
    return old ? { ...sound(unit, old.healthy), key: old.key } : sound(unit, true);
  });
  const missing = [...known.values()].filter(stays).map((unit) => ({ ...unit, removed: true }));
  return [...units, ...missing];
}

function sound(unit: ReportedUnit, otherwise: boolean): Unit {
  return { ...unit, healthy: unit.healthy ?? otherwise };
}
