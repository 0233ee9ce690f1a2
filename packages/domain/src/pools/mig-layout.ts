/** Whether the GPUs of a pool can take a MIG layout. */
import { gpusOf, migTablesOf } from "../fleet/units.ts";
import { arrangeByAny } from "../mig/layout.ts";
import { type MigTable, modelName, tablesOf } from "../mig/table.ts";
import type { PoolPolicy } from "../model.ts";
import type { PoolState } from "../state/pool-state.ts";

type Layout = NonNullable<PoolPolicy["migLayout"]>;

/** For each kind of GPU of the model, the tables that it may have; none when nobody knows any. */
export type TablesOf = (model: string) => readonly (readonly MigTable[])[];

/** Of a pool without nodes. */
export const knownTables: TablesOf = (model) => {
  const tables = tablesOf(model);
  return tables.length > 0 ? [tables] : [];
};

/** What the pool's nodes reported wins over what is known of the model. */
export function tablesIn(state: PoolState): TablesOf {
  return (model) => {
    const name = modelName(model);
    const kinds = new Map<string, readonly MigTable[]>();
    for (const node of state.nodes())
      for (const gpu of gpusOf(node)) {
        if (gpu.removed || modelName(gpu.model ?? "") !== name) continue;
        const look = JSON.stringify([gpu.migProfiles, gpu.memoryGiB]);
        if (!kinds.has(look)) kinds.set(look, migTablesOf(gpu));
      }
    const found = [...kinds.values()].filter((tables) => tables.length > 0);
    return found.length > 0 ? found : knownTables(model);
  };
}

export interface LayoutFault {
  /** Within the layout. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The first thing that is wrong with it; null when every GPU of its models can be cut like that. */
export function layoutFault(layout: Layout, tables: TablesOf): LayoutFault | null {
  const named = new Map<string, string>();
  for (const [model, profiles] of Object.entries(layout)) {
    const twin = named.get(modelName(model));
    if (twin !== undefined)
      return { path: [model], message: `${model} and ${twin} are one model: give it one layout` };
    named.set(modelName(model), model);
    const kinds = tables(model);
    if (kinds.length === 0) return { path: [model], message: unknownModel(model) };
    for (const known of kinds) {
      const found = arrangeByAny(known, profiles);
      if (found && !found.fits)
        return { path: [model, found.at], message: `${model}: ${found.message}` };
    }
  }
  return null;
}

function unknownModel(model: string): string {
  return (
    `${model}: its MIG profiles are not known; name it as the hardware does ("NVIDIA A100-SXM4-80GB"), ` +
    "or report migProfiles of such a GPU in this pool first"
  );
}
