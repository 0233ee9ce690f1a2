/** The plan of a booking for people: whether it fits and why not, where, when, and what is left of the quota. */
import type { Preview, Quote, QuotaLine, Reason } from "@berth/client";
import type { Tables } from "./output/print.ts";
import { facts } from "./reservation-view.ts";
import { both, clocksChange, length, zoneName } from "./time.ts";

export interface Plan {
  readonly quote: Quote;
  /** What is asked for, in words. */
  readonly words: string;
  readonly pool: string;
  /** Lines to try in place of it, with what they change. */
  readonly ways: readonly Way[];
}

export interface Way {
  readonly says: string;
  readonly line: string;
}

export const isPossible = ({ preview, quota }: Quote): boolean => preview.fits && quota.ok;

/** @param tables of the stream that it goes to */
export function planLines({ quote, words, pool, ways }: Plan, tables: Tables): string[] {
  const { preview, quota } = quote;
  return [
    ...facts([
      ["book", `${words}, in ${pool}`],
      ["fits", fits(preview)],
      ...windowOf(preview),
      ["quota", quotaWords(quota.rows, quota.ok)],
      ["makes way", preemption(preview)],
      ["earliest", earliest(preview)],
    ]),
    ...blockedTable(preview.reason, tables),
    ...ways.flatMap(({ says, line }, at) => [...(at === 0 ? [""] : []), `${says}:`, `  ${line}`]),
  ];
}

/** Causes by how many nodes each rules out. */
export function blockedTable(reason: Reason | null, { more }: Tables): string[] {
  if (reason === null || reason.blocked.length === 0) return [];
  const rows = more(reason.blocked, [
    { name: "cause", of: ({ cause }) => cause },
    { name: "nodes", align: "right", of: ({ nodes }) => nodes },
  ]);
  return ["", ...rows];
}

function fits({ fits: does, candidates, reason }: Preview): string {
  if (!does) return `no: ${reason?.message ?? "the server does not say why"}`;
  const names = candidates.map(({ nodeName }) => nodeName);
  return names.length === 0 ? "yes" : `yes, on ${[...new Set(names)].join(", ")}`;
}

function windowOf({ start, end }: Preview): (readonly [string, string])[] {
  const change = clocksChange(start, end) ? "; the clocks change in between" : "";
  return [
    ["start", both(start)],
    ["end", `${both(end)}, ${length(end - start)} later`],
    ["zone", `${zoneName()}${change}`],
  ];
}

function quotaWords(rows: readonly QuotaLine[], isEnough: boolean): string {
  const said = rows.map(({ resource, max, peak, remaining, asked }) => {
    const left = remaining ?? (max === null || peak === null ? null : max - peak);
    if (left === null) return `${asked} ${resource} asked`;
    const of = max === null ? "" : ` of ${max}`;
    return asked > left
      ? `${asked} ${resource} asked, ${Math.max(0, left)}${of} left in this window`
      : `${left - asked}${of} ${resource} left after it`;
  });
  return `${isEnough ? "" : "no: "}${said.join(", ") || "nothing of it is metered"}`;
}

function preemption({ preemptible }: Preview): string | null {
  if (preemptible === null) return null;
  const { count, startsAt, exact } = preemptible;
  const what = count === 1 ? "spot booking" : "spot bookings";
  return `${exact ? "" : "at most "}${count} ${what}, given notice; it starts ${both(startsAt)}`;
}

function earliest({ fits: does, earliestStart, searchedTo }: Preview): string | null {
  if (does) return null;
  return earliestStart === null ? `never up to ${both(searchedTo)}` : both(earliestStart);
}
