/** The demand mix of one pool: the GPUs or slots that one member of a request takes, and its scalars. */
import { NO_SCALARS, SCALARS } from "../model.ts";
import type { Binding, DeviceLine, Gang, ScalarAmounts } from "../model.ts";
import { type Ask, DemandMix } from "./demand-mix.ts";

/** What one member takes together on one node. */
export interface UnitAsk extends Ask {
  /** Null: any. */
  readonly model: string | null;
  /** At least so much memory. */
  readonly memoryGiB: number;
}

/** What a booking, or whoever waits for one, asks for. */
export interface Asked {
  readonly binding: Binding;
  readonly devices: readonly DeviceLine[];
  readonly gang?: Gang | null | undefined;
  readonly resources: ScalarAmounts;
}

const USUAL_SIZES = [1, 2, 4, 8] as const;
export const USUAL: readonly UnitAsk[] = USUAL_SIZES.map((size) =>
  askFrom({ size, model: null, memoryGiB: 0 }, NO_SCALARS),
);

export class PoolDemand {
  readonly mix: DemandMix<UnitAsk> = new DemandMix(USUAL);

  /** The parts of a row that the mix is learnt from: before and after a change; null for none. */
  set(old: Asked | null, next: Asked | null): void {
    if (old && next && isSame(old, next)) return;
    if (old) this.#learn(old, -1);
    if (next) this.#learn(next, 1);
  }

  #learn(asked: Asked, step: 1 | -1): void {
    const ask = askOf(asked);
    if (ask) this.mix.add(ask, step * (asked.gang?.size ?? 1));
  }
}

function isSame(a: Asked, b: Asked): boolean {
  const same = a.devices === b.devices && a.resources === b.resources;
  return same && a.binding === b.binding && a.gang === b.gang;
}

/** Null for a lease, which has its nodes to itself, and for what takes no GPUs or slots. */
function askOf({ binding, devices, resources }: Asked): UnitAsk | null {
  if (binding === "node") return null;
  let size = 0;
  let line: DeviceLine | null = null;
  for (const one of devices) {
    if (one.class !== "gpu" && one.class !== "gpu.slot") continue;
    size += one.count;
    line ??= one;
  }
  if (!line) return null;
  const { model = null, memoryGiB = 0 } = line.selector ?? {};
  return askFrom({ size, model, memoryGiB }, resources);
}

function askFrom(
  what: { readonly size: number; readonly model: string | null; readonly memoryGiB: number },
  resources: ScalarAmounts,
): UnitAsk {
  const { size, model, memoryGiB } = what;
  const amounts = SCALARS.map((scalar) => resources[scalar]);
  return { ...what, amounts, key: `${size}|${memoryGiB}|${amounts.join()}|${model ?? ""}` };
}
