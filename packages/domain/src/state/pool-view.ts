/** What a search for room reads of a pool: the state itself, or one without some of its bookings (`placer/absent.ts`). */
import type { PoolConfig } from "../model.ts";
import type { NodeId, UnitId } from "../ids.ts";
import type { Weighed } from "./demand-mix.ts";
import type { SeenNode } from "./node-entry.ts";
import type { UnitAsk } from "./pool-demand.ts";
import type { Roster } from "./roster.ts";
import type { Shapes } from "./shape.ts";

export interface PoolView {
  readonly config: PoolConfig | null;
  readonly nodeCount: number;
  /** By node id. */
  readonly entries: readonly SeenNode[];
  readonly roster: Pick<Roster, "anyBusy" | "busy" | "makeOf" | "judged" | "rowsOf" | "valuesOf">;
  readonly shapes: Pick<Shapes, "all">;
  readonly demand: readonly Weighed<UnitAsk>[];
  place(id: UnitId): { readonly entry: SeenNode; readonly unit: number } | undefined;
  entry(id: NodeId): SeenNode | undefined;
}
