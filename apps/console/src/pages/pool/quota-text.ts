/** Quota rows in words. */
import type { QuotaView } from "@berth/client";
import { number } from "../../format/gpus.ts";
import { BOUNDS } from "../../format/whole.ts";
import { resourceText } from "./resources.ts";

/** A limit that limits something; null for none. */
export function limitOf({ max }: Pick<QuotaView, "max">): number | null {
  return max === null || max >= BOUNDS.quota.most ? null : max;
}

/** `GPUs 16 of 96 in use`, all rows of an offer. */
export function usedText(quota: readonly QuotaView[]): string {
  if (quota.length === 0) return "no quota";
  return quota
    .map((row) => {
      const max = limitOf(row);
      const most = max === null ? "no limit" : number(max);
      return `${resourceText(row.resource)} ${number(row.used ?? 0)} of ${most} in use`;
    })
    .join(", ");
}
