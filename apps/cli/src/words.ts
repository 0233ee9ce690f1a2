/** What a booking is, in words. */
import type { DeviceLine, Pool, Reservation } from "@berth/client";
import { usage } from "./exit.ts";
import { type Io, say } from "./io.ts";
import { clean } from "./output/clean.ts";
import type { Session } from "./session.ts";

/** `2 × 8 gpu`, `4 node`, `1 gpu.mig 3g.40gb`. */
export function whatOf({ devices, gang }: Pick<Reservation, "devices" | "gang">): string {
  const each = devices.map(lineOf).join(" + ");
  return gang && gang.size > 1 ? `${gang.size} × ${each}` : each;
}

function lineOf({ class: name, count, selector }: DeviceLine): string {
  const { model, profile } = { model: undefined, profile: undefined, ...selector };
  return [count, name, profile ?? model].filter((part) => part !== undefined).join(" ");
}

const POOL_ID = /^pool_[0-9a-z]{26,52}$/;

/** Its label, else its id; a label that could be another pool's id would name that one. */
export const poolName = ({ id, label }: Pick<Pool, "id" | "label">): string =>
  label === null || label === "" || POOL_ID.test(label) ? id : label;

/** The pool that an id or a label names. @throws Quit that lists them, when none or several do */
export async function poolOf({ berth, tenantId }: Session, name: string): Promise<string> {
  if (POOL_ID.test(name)) return name;
  const { pools } = await berth.pools.list({ tenantId: await tenantId() });
  const found = pools.filter(({ label }) => label === name);
  if (found.length === 1 && found[0]) return found[0].id;
  const which = found.length === 0 ? "no pool is" : "several pools are";
  throw usage(`${which} called ${JSON.stringify(name)}; there are`, ...listed(pools));
}

/** Pools, a line each. */
export function listed(pools: readonly Pool[]): string[] {
  if (pools.length === 0) return ["  none: nobody has offered you one"];
  return pools.map(
    (pool) => `  ${clean(poolName(pool))}  ${clean(pool.gpuModel ?? "")}  ${pool.id}`,
  );
}

/** A table with nothing below its heads says too little. */
export function sayNoPools(io: Io, tenantId: string): void {
  say(io, `nothing is offered to ${clean(tenantId)}: --tenant asks for another tenant of yours`);
}

export function wholeNumber(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw usage(`${name} takes a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}
