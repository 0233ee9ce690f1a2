/**
 * The engine without a database: pools of 1,000 nodes × 8 GPUs are booked through its queues, caches and planner,
 * and what it hands to the gate is counted and thrown away. How many pools one process holds, how
 * large they are, and how many decisions a core takes. In a process of its own, which may have the memory.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Figure } from "./figure.ts";

/** What the world is made of, and when it is large enough. */
export interface World {
  readonly pools: number;
  readonly nodes: number;
  readonly callers: number;
  readonly seconds: number;
  /** No pool is loaded when the process holds so much, in MiB. */
  readonly residentMax: number;
}

const WORLD: World = {
  pools: 1_000,
  nodes: 1_000,
  callers: 256,
  seconds: 20,
  residentMax: 7_200,
};
const QUICK: World = { ...WORLD, pools: 50, seconds: 5 };

export function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const file = fileURLToPath(new URL("scale-world.ts", import.meta.url));
  const world = quick ? QUICK : WORLD;
  const args = [`--max-old-space-size=${world.residentMax}`, "--expose-gc", file];
  const printed = execFileSync(process.execPath, [...args, JSON.stringify(world)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return Promise.resolve(JSON.parse(printed) as Figure[]);
}
