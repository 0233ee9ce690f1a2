/** What of a link to the form was taken, and what could not be: nothing is dropped without a word. Pure. */
import { parseAbsolute } from "@internationalized/date";
import { LATEST } from "../../app/search.ts";
import type { BookForm, Kind } from "./form.ts";
import { TOGETHER } from "./search.ts";
import type { BookSearch } from "./search.ts";

/** Something of the link that was not taken, in words. */
export interface LinkNote {
  readonly field: "start" | "together" | "spot";
  readonly words: string;
}

export interface FromLink {
  readonly form: BookForm;
  readonly notes: readonly LinkNote[];
}

/** A minute of patience, as the server has. */
const LATE_MS = 60_000;
/** Why nothing can begin then; null: the form may ask. */
export function startFault(at: number, now: number): string | null {
  if (at < now - LATE_MS) return "The start is in the past.";
  return at < LATEST ? null : "The year is at most 2199.";
}

/** The form that a link fills in. A start that cannot be taken leaves the form without one, and it says so. */
export function fromLink(search: BookSearch, kind: Kind, now: number): FromLink {
  const start = startOf(search.start, now);
  const together = TOGETHER.find((word) => word === search.together);
  const form: BookForm = {
    kind,
    count: String(search.gpus ?? 8),
    together: together ?? "any",
    start: start.at,
    startFault: start.why === null ? null : "Choose a start, or press Now.",
    startTyped: start.why === null ? null : String(search.start),
    duration: search.for ?? "4h",
    spot: search.spot === true,
    profile: "",
    lease: "",
    project: "",
  };
  return {
    form,
    notes: [
      ...(start.why === null
        ? []
        : [
            note(
              "start",
              `${start.why}: ${String(search.start)}. The start is now unless you choose one.`,
            ),
          ]),
      ...(search.together === undefined || together !== undefined
        ? []
        : [
            note(
              "together",
              `The link keeps together by what there is not: ${search.together}. Nothing is kept together unless you choose it.`,
            ),
          ]),
      ...(typeof search.spot === "string"
        ? [
            note(
              "spot",
              `The link's spot is neither true nor false: ${search.spot}. It is not spot.`,
            ),
          ]
        : []),
    ],
  };
}

const note = (field: LinkNote["field"], words: string): LinkNote => ({ field, words });

function startOf(
  given: BookSearch["start"],
  now: number,
): { readonly at: number | null; readonly why: string | null } {
  if (given === undefined) return { at: null, why: null };
  const at = instantOf(given);
  if (at === null) return { at, why: "The link's start could not be read" };
  if (at < now - LATE_MS) return { at: null, why: "The link's start is in the past" };
  if (at >= LATEST) return { at: null, why: "The link's start is too far ahead" };
  return { at, why: null };
}

/** The instant that an address names; null when it names none: a time of day without a zone is none. */
function instantOf(given: number | string): number | null {
  const count = Number(given);
  if (Number.isFinite(count)) return Math.trunc(count);
  try {
    // In an address a plus stands for a space.
    return parseAbsolute(String(given).replace(" ", "+"), "UTC").toDate().getTime();
  } catch {
    return null;
  }
}
