/** A window that was given with both its ends. */
import type { InputIssue } from "@berth/domain";

/** A window ends after it begins; one with an end left out is none yet. */
export function orderIssues(window: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): InputIssue[] {
  const { from, to } = window;
  const ordered = from === undefined || to === undefined || to > from;
  return ordered ? [] : [{ path: ["to"], message: "must be after `from`" }];
}
