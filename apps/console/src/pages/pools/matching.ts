/** Which pools a filter leaves. Pure. */
import type { Pool } from "@berth/client";
import { poolName } from "../pool-names.ts";
import type { PoolKind, PoolsSearch } from "./search.ts";

/** Own pools first, then by name as people count. */
export function matching(pools: readonly Pool[], search: PoolsSearch): Pool[] {
  const { kind = "all", model, q = "", sharing } = search;
  const needle = q.trim().toLowerCase();
  const names = new Intl.Collator("en", { numeric: true });
  return pools
    .filter(
      (pool) =>
        isKind(pool, kind) &&
        (model === undefined || pool.gpuModel === model) &&
        (sharing === undefined || pool.sharing === sharing) &&
        textOf(pool).includes(needle),
    )
    .toSorted(
      (a, b) => Number(b.owned) - Number(a.owned) || names.compare(poolName(a), poolName(b)),
    );
}

/** What is archived is looked for by that alone. */
function isKind({ archived, owned }: Pool, kind: PoolKind): boolean {
  if (kind === "archived") return archived;
  if (archived) return false;
  return kind === "all" || owned === (kind === "owned");
}

function textOf({ gpuModel, id, label, region }: Pool): string {
  return [label, gpuModel, region, id].join(" ").toLowerCase();
}
