/** The rows of the map with a line before each group. Rows come sorted by group. */
import type { Moment } from "../format/free.ts";
import { countText } from "../format/gpus.ts";
import { freeOf } from "./cells.ts";
import type { CellRow } from "./cells.ts";

/** A line of the map. */
export type MapLine =
  | { readonly kind: "node"; readonly row: CellRow }
  | {
      readonly kind: "group";
      /** "" for nodes that are in none. */
      readonly group: string;
      readonly nodes: number;
      /** `19 of 32 GPUs free now`. */
      readonly free: string;
    };

/** Without lines between when there is but one group that has no name. */
export function linesOf(rows: readonly CellRow[], moment: Moment): MapLine[] {
  const groups = Map.groupBy(rows, ({ group }) => group);
  if (groups.size === 1 && groups.has("")) return rows.map((row) => ({ kind: "node", row }));
  return [...groups].flatMap(([group, members]): MapLine[] => {
    const { all, free, noun } = freeOf(members.flatMap((row) => row.cells));
    const header = {
      group,
      nodes: members.length,
      free: `${free} of ${countText(all, noun)} free ${moment}`,
    };
    return [
      { kind: "group", ...header },
      ...members.map((row) => ({ kind: "node", row }) as const),
    ];
  });
}
