/** What the demo does with a fleet: a pool a GPU model, and what each tenant books in it. */
import type { VariableName } from "../config.ts";
import type { NodeInput } from "../import/document.ts";

/** The settings that the demo heeds: what is meant for a real server is none of its business. */
export const DEMO_VARIABLES: readonly VariableName[] = ["PORT", "HOST", "NO_COLOR"];

export const OWNER = "lab";
export const TENANTS = ["vision", "speech", "robotics"] as const;
export type Booker = (typeof TENANTS)[number];

export interface ModelGroup {
  /** As the hardware reports it. */
  readonly model: string;
  /** What the API takes as a pool's label of it. */
  readonly gpuModel: string;
  readonly nodes: readonly NodeInput[];
  readonly gpus: number;
  /** GPUs of its largest node. */
  readonly largest: number;
}

/** Nodes by the model of their first GPU, the largest group first; nodes without a GPU are left out. */
export function byModel(nodes: readonly NodeInput[]): ModelGroup[] {
  const groups = new Map<string, NodeInput[]>();
  for (const node of nodes) {
    const model = node.gpus?.[0]?.model;
    if (model === undefined) continue;
    const group = groups.get(model);
    if (group) group.push(node);
    else groups.set(model, [node]);
  }
  return [...groups]
    .map(([model, group]) => {
      const counts = group.map((node) => node.gpus?.length ?? 0);
      return {
        model,
        gpuModel: model.replaceAll(/[^A-Za-z0-9]+/g, "-").slice(0, 32),
        nodes: group,
        gpus: counts.reduce((sum, count) => sum + count, 0),
        largest: Math.max(...counts),
      };
    })
    .toSorted((a, b) => b.gpus - a.gpus);
}

export interface Job {
  readonly tenant: Booker;
  readonly gpus: number;
  /** Hours from now; 0 = at once. */
  readonly inHours: number;
  readonly hours: number;
}

/** Six bookings a pool, sized by its largest node so that they suit any fleet. */
export function jobsFor({ largest }: Pick<ModelGroup, "largest">): Job[] {
  const half = Math.ceil(largest / 2);
  return [
    { tenant: "vision", gpus: largest, inHours: 0, hours: 4 },
    { tenant: "vision", gpus: half, inHours: 0, hours: 8 },
    { tenant: "speech", gpus: half, inHours: 0, hours: 6 },
    { tenant: "speech", gpus: largest, inHours: 2, hours: 12 },
    { tenant: "robotics", gpus: 1, inHours: 0, hours: 2 },
    { tenant: "robotics", gpus: Math.min(2, largest), inHours: 1, hours: 4 },
  ];
}
