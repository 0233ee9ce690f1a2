/** Whole GPUs booked over time. */
import {
  type InputIssue,
  type Result,
  type TimelineWindow,
  ok,
  refuse,
  timeline as count,
} from "@berth/domain";
import type { Input } from "@berth/contract";
import type { Handler } from "../../call.ts";
import { readPool } from "./read-pool.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SPAN_MAX_MS = 7 * DAY_MS;
const BUCKETS_MAX = 336;

export const timeline: Handler<"capacity.timeline"> = {
  async run(call, input, scope) {
    const { poolId } = scope.pool;

    // 1. Defaults and limits need the pool's clock, so they are settled inside the read.
    const read = await readPool(call, poolId, (state, now) => {
      const window = timelineWindow(input, now);
      return window.ok ? ok({ window: window.value, line: count(state, window.value) }) : window;
    });

    // 2. The answer.
    const { window, line } = read.value;
    const buckets = line.buckets.map(({ start, booked, free }) => ({ start, booked, free }));
    return { poolId, ...window, allocatable: line.allocatable, buckets };
  },
};

/** Absent: from the start of this hour (UTC), for 24 hours, in steps of one. */
export function timelineWindow(
  input: Pick<Input<"capacity.timeline">, "from" | "to" | "stepMinutes">,
  now: number,
): Result<TimelineWindow> {
  const from = input.from ?? now - (now % HOUR_MS);
  const to = input.to ?? from + DAY_MS;
  const stepMinutes = input.stepMinutes ?? 60;
  const issue = windowIssue(from, to, stepMinutes);
  return issue ? refuse({ code: "INVALID_INPUT", issues: [issue] }) : ok({ from, to, stepMinutes });
}

function windowIssue(from: number, to: number, stepMinutes: number): InputIssue | null {
  if (to <= from) return { path: ["to"], message: "must be after from" };
  if (to - from > SPAN_MAX_MS) return { path: ["to"], message: "a timeline spans at most 7 days" };
  const buckets = Math.ceil((to - from) / (stepMinutes * MINUTE_MS));
  return buckets > BUCKETS_MAX
    ? {
        path: ["stepMinutes"],
        message: `a timeline has at most ${BUCKETS_MAX} buckets, not ${buckets}: take wider steps`,
      }
    : null;
}
