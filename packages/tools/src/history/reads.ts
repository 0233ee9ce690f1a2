/** Reads that name a number have to say what the pool was at that number, and nothing else. */
import { type Counts, bookedIn, fits, rollup } from "./model.ts";
import { requestOf } from "./refusals.ts";
import { meets } from "./rows.ts";
import type { Json, Operation, Report } from "./types.ts";
import type { View } from "./view.ts";

const READS: Readonly<Record<string, (op: Operation, view: View) => Verdict>> = {
  "capacity.preview": preview,
  "capacity.byPool": byPool,
  "capacity.timeline": timeline,
};

/** @returns whether the answer was one that can be checked */
export function checkRead(op: Operation, view: View, report: Report): boolean {
  const wrong = READS[op.method]?.(op, view);
  if (wrong) report("WRONG_READ", `operation ${op.n}, ${op.method} at ${String(op.seq)}: ${wrong}`);
  return wrong !== undefined;
}

/** Undefined: it cannot be checked; null: nothing is wrong. */
type Verdict = string | null | undefined;

function preview({ body, ...op }: Operation, view: View): Verdict {
  const [start, end] = [Number(body["start"]), Number(body["end"])];
  const request = { ...requestOf(op, Number(body["asOf"])), start, end };
  const fitting = fits(view, request);
  if (fitting !== body["fits"]) return `it ${fitting ? "fits" : "does not fit"}`;
  const shown = body["candidates"] as readonly { atoms: readonly string[] }[];
  const taken = new Set(
    view.reservations
      .filter((row) => meets(row, request))
      .flatMap((row) => row.members.flatMap((member) => member.unitIds)),
  );
  const busy = shown.flatMap(({ atoms }) => atoms).find((id) => taken.has(id));
  return busy === undefined ? null : `candidate ${busy} is taken`;
}

/** What is withheld from one tenant counts as reserved for it: such pools are left to the domain's own tests. */
function byPool({ body }: Operation, view: View): Verdict {
  if (view.fences.length > 0) return undefined;
  const shown = body["capacity"] as readonly Counts[];
  const counted = rollup(view);
  for (const row of counted) {
    const said = shown.find(({ resource }) => resource === row["resource"]);
    const name = Object.keys(row).find((column) => said?.[column] !== row[column]);
    if (name !== undefined)
      return `${String(row["resource"])}: ${name} is ${row[name]}, said ${said?.[name]}`;
  }
  return shown.length === counted.length ? null : `${counted.length} rows, said ${shown.length}`;
}

function timeline({ body }: Operation, view: View): Verdict {
  if (view.fences.length > 0) return undefined;
  const buckets = body["buckets"] as readonly { readonly start: number; readonly booked: number }[];
  const length = Number(body["stepMinutes"]) * 60_000;
  // Over by then, and no longer live: only what is to come is in the view.
  const ahead = buckets.filter(({ start }) => start >= view.at);
  for (const { start, booked } of ahead) {
    const counted = bookedIn(view, { start, end: Math.min(start + length, Number(body["to"])) });
    if (counted !== booked) return `${counted} GPUs are booked from ${start} on, said ${booked}`;
  }
  return null;
}

/** Rows of a list are as new as its number at least, and each is one that the log has. */
export const listed = (op: Operation): readonly Json[] =>
  op.method === "reservations.list" ? (op.body["reservations"] as readonly Json[]) : [];
