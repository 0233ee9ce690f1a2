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
  /** All of it goes on one node: of several candidates it is one. */
  readonly isOnOne: boolean;
  /** Lines to try in place of it, with what they change. */
  readonly ways: readonly Way[];
  /** What the GPUs there report as their model, where the asked one is in the way; else none. */
  readonly models: readonly string[];
}

export interface Way {
  readonly says: string;
  readonly line: string;
}

/** It fits, or spot bookings make way for it. */
export const hasRoom = ({ fits, preemptible }: Pick<Preview, "fits" | "preemptible">): boolean =>
  fits || preemptible !== null;

export const isPossible = ({ preview, quota }: Quote): boolean => hasRoom(preview) && quota.ok;

/** When it would begin. */
export const startOf = ({ preemptible, start }: Preview): number => preemptible?.startsAt ?? start;

/** @param tables of the stream that it goes to */
export function planLines(
  { quote, words, pool, isOnOne, ways, models }: Plan,
  tables: Tables,
): string[] {
  const { preview, quota } = quote;
  return [
    ...facts([
      ["book", `${words}, in ${pool}`],
      ["fits", fits(preview, isOnOne)],
      ...windowOf(preview),
      ["quota", quotaWords(quota.rows, quota.ok)],
      ["makes way", preemption(preview)],
      ["earliest", earliest(preview)],
      ["models", models.length === 0 ? null : `the GPUs there report ${models.join(", ")}`],
    ]),
    ...(preview.preemptible === null ? blockedTable(preview.reason, tables) : []),
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

function fits(preview: Preview, isOnOne: boolean): string {
  const { fits: does, candidates, reason, preemptible } = preview;
  if (preemptible !== null) return "yes, once spot has made way";
  if (!does) return `no: ${reason?.message ?? "the server does not say why"}`;
  const names = [...new Set(candidates.map(({ nodeName }) => nodeName))];
  if (names.length === 0) return "yes";
  return `yes, on ${isOnOne && names.length > 1 ? "one of " : ""}${names.join(", ")}`;
}

function windowOf(preview: Preview): (readonly [string, string])[] {
  const start = startOf(preview);
  const end = preview.end + start - preview.start;
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

/** What makes way, and when that is done. */
export function preemption({ preemptible }: Preview): string | null {
  if (preemptible === null) return null;
  const { count, startsAt, exact } = preemptible;
  const what = count === 1 ? "spot booking" : "spot bookings";
  return `${exact ? "" : "at most "}${count} ${what}, given notice; it starts ${both(startsAt)}`;
}

function earliest({ preemptible, ...preview }: Preview): string | null {
  const { fits: does, earliestStart, searchedTo } = preview;
  if (does || preemptible !== null) return null;
  return earliestStart === null ? `never up to ${both(searchedTo)}` : both(earliestStart);
}
