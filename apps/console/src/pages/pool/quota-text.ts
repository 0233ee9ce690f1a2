/** Quota rows in words. */
import type { QuotaView } from "@berth/client";
import { number } from "../../format/gpus.ts";
import { resourceText } from "./resources.ts";

/** `GPUs 16 of 96 in use`, all rows of an offer. */
export function usedText(quota: readonly QuotaView[]): string {
  if (quota.length === 0) return "no quota";
  return quota
    .map(({ max, resource, used }) => {
      const most = max === null ? "no limit" : number(max);
      return `${resourceText(resource)} ${number(used ?? 0)} of ${most} in use`;
    })
    .join(", ");
}
