/** The points that a batch passes on its way; nobody comes here unless a test has asked to be told. */
import type { ApplyOutcome, Failpoint } from "@berth/db";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Plan } from "./planner.ts";

export async function passPlanned(failpoint: Failpoint, plan: Plan): Promise<void> {
  await failpoint("place.done");
  if (reclaims(plan)) await failpoint("reclaim.planned");
  if (heals(plan)) await failpoint("heal.planned");
}

export async function passTaken(failpoint: Failpoint, plan: Plan): Promise<void> {
  if (plan.batch) await failpoint("cache.updated");
  if (reclaims(plan)) await failpoint("reclaim.applied");
  if (heals(plan)) await failpoint("heal.applied");
  await failpoint("reply.before");
}

/** Writes, and passes the points around it when there is somebody to tell. */
export function passing(
  failpoint: Failpoint | undefined,
  apply: () => Promise<ApplyOutcome>,
): Promise<ApplyOutcome> {
  return failpoint ? passingWrite(failpoint, apply) : apply();
}

async function passingWrite(
  failpoint: Failpoint,
  apply: () => Promise<ApplyOutcome>,
): Promise<ApplyOutcome> {
  await failpoint("apply.before");
  const answer = apply();
  // It may fail while it is held up here.
  answer.catch(() => undefined);
  // The driver puts it on the wire in the turn after the one in which it was asked to.
  await nextTick();
  await nextTick();
  await failpoint("apply.sent");
  const outcome = await answer;
  await failpoint("apply.acked");
  return outcome;
}

function reclaims({ batch }: Plan): boolean {
  return batch?.events.some(({ type }) => type === "unitReservation.reclaimed") ?? false;
}

function heals({ healing: { tries, healed, degraded } }: Plan): boolean {
  return tries + healed + degraded > 0;
}
