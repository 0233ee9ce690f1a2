/**
 * Slurm's lists of names: `n[1-4,7],login`, several ranges in a name, zeros kept (`n[01-10]`). The grammar and
 * the bound on a list's length are those of SchedMD/slurm `src/common/hostlist.c` (MAX_RANGE, 64 Ki names).
 */
import { ImportError } from "../document.ts";

export const HOSTS_MAX = 65_536;

/** What the lists of one configuration may stand for together. */
const TOGETHER_MAX = 1_048_576;

/** For files of many lists: a small file is not let grow into a large one. */
export function hostlistReader(): (text: string) => string[] {
  let left = TOGETHER_MAX;
  return (text) => {
    const names = expandHostlist(text);
    left -= names.length;
    if (left >= 0) return names;
    throw new ImportError(`the lists of names stand for more than ${TOGETHER_MAX} names together`);
  };
}

/** @throws ImportError when it is none, or stands for too many names */
export function expandHostlist(text: string): string[] {
  const names: string[] = [];
  for (const part of splitOutside(text, "[", "]")) {
    if (part === "") continue;
    names.push(...expandName(part, HOSTS_MAX - names.length));
  }
  return names;
}

/** Splits at commas that stand outside of the brackets. */
export function splitOutside(text: string, open: string, close: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    else if (text[at] === close) depth -= 1;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

/** The product of what stands in its brackets; counted before it is made. */
function expandName(pattern: string, room: number): string[] {
  const shown = pattern.slice(0, 64);
  const pieces = pattern.split(/[[\]]/);
  const balanced = /^[^[\]]*(?:\[[^[\]]+\][^[\]]*)*$/.test(pattern);
  if (!balanced)
    throw new ImportError(`"${shown}" is not a list of names: its brackets do not match`);
  // Odd pieces stood in brackets.
  const choices = pieces.map((piece, at) => (at % 2 === 1 ? rangesOf(piece, shown) : null));
  const count = choices.reduce((total, ranges) => total * (ranges ? countOf(ranges) : 1), 1);
  if (count > room) throw new ImportError(`"${shown}" stands for more than ${HOSTS_MAX} names`);
  let names = [""];
  for (const [at, piece] of pieces.entries()) {
    const ranges = choices[at];
    const ends = ranges ? ranges.flatMap(numbersOf) : [piece];
    names = names.flatMap((name) => ends.map((end) => name + end));
  }
  return names;
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly width: number;
}

function rangesOf(text: string, shown: string): Range[] {
  return text.split(",").map((part) => {
    const [, low, high = low] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
    if (low === undefined || high === undefined || Number(high) < Number(low))
      throw new ImportError(
        `"${shown}" is not a list of names: "${part.slice(0, 32)}" is no range`,
      );
    return { low: Number(low), high: Number(high), width: low.length };
  });
}

const countOf = (ranges: readonly Range[]) =>
  ranges.reduce((total, { low, high }) => total + high - low + 1, 0);

const numbersOf = ({ low, high, width }: Range) =>
  Array.from({ length: high - low + 1 }, (_, at) => String(low + at).padStart(width, "0"));
