/** Whole GPUs booked over time. */
import {
  type InputIssue,
  type Result,
  TIME_MAX,
  type TimelineWindow,
  ok,
  refuse,
  timelineSteps,
} from "@berth/domain";
import type { Input } from "@berth/contract";
import type { Handler } from "../../call.ts";
import { readPool } from "./read-pool.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SPAN_MAX_MS = 7 * DAY_MS;
const BUCKETS_MAX = 336;

type TimelineInput = Input<"capacity.timeline">;

export const timeline: Handler<"capacity.timeline"> = {
  check(input) {
    // Only the default of `from` needs the clock.
    const { from } = input;
    const issue = from === undefined ? null : windowIssue(windowFrom(input, from));
    return issue ? [issue] : [];
  },

  async run(call, input, scope) {
    const { poolId } = scope.pool;

    // 1. Defaults and limits need the pool's clock, so they are settled inside the read.
    const read = await readPool(call, poolId, function* (state, now) {
      const window = timelineWindow(input, now);
      if (!window.ok) return window;
      const line = yield* timelineSteps(state, window.value, scope.tenantId);
      return ok({ window: window.value, line });
    });

    // 2. The answer.
    const { window, line } = read.value;
    const buckets = line.buckets.map(({ start, booked, free }) => ({ start, booked, free }));
    return { poolId, ...window, allocatable: line.allocatable, buckets };
  },
};

/** Absent: from the start of this hour (UTC), for 24 hours, in steps of one. */
export function timelineWindow(
  input: Pick<TimelineInput, "from" | "to" | "stepMinutes">,
  now: number,
): Result<TimelineWindow> {
  const window = windowFrom(input, input.from ?? now - (now % HOUR_MS));
  const issue = windowIssue(window);
  return issue ? refuse({ code: "INVALID_INPUT", issues: [issue] }) : ok(window);
}

/** A day from `from` unless more was said, and never past the end of time. */
function windowFrom(
  asked: Pick<TimelineInput, "to" | "stepMinutes">,
  from: number,
): TimelineWindow {
  const { to = Math.min(from + DAY_MS, TIME_MAX), stepMinutes = 60 } = asked;
  return { from, to, stepMinutes };
}

function windowIssue({ from, to, stepMinutes }: TimelineWindow): InputIssue | null {
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
