/** The box "You have" at the top of a page: names that its blocks take for granted, each with the line that makes it. */

export interface Box {
  /** `booking` of TypeScript, `$booking` of the shell. */
  readonly names: ReadonlySet<string>;
  /** Its statements of TypeScript, in order. */
  readonly statements: readonly string[];
  /** Its assignments of the shell, in order. */
  readonly assignments: readonly string[];
}

/**
 * A quote before the first section and the first block, which begins with `**You have**`. Each entry of its list has
 * names as code before its colon, or none; all other code that makes something is how one gets them.
 */
export function boxOf(text: string): Box {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => /^(?:## |```|:::)/.test(line));
  const top = end === -1 ? lines : lines.slice(0, end);
  const from = top.findIndex((line) => line.startsWith("> **You have**"));
  const quoted = from === -1 ? [] : top.slice(from + 1).filter((line) => line.startsWith(">"));
  const entries = quoted
    .map((line) => line.slice(1).trim())
    .join(" ")
    .split(/(?:^| )- /);
  const names = new Set<string>();
  const code: string[] = [];
  for (const entry of entries) {
    const [head = ""] = /^(?:`[^`]+`(?:, )?)+: /.exec(entry) ?? [];
    for (const name of codeIn(head)) names.add(name);
    code.push(...codeIn(entry.slice(head.length)));
  }
  return {
    names,
    statements: code.filter((each) => /^(?:const|let|await|async function) /.test(each)),
    assignments: code.filter((each) => /^(?:export )?\w+=/.test(each)),
  };
}

function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** A program of the box alone: what its names are made by has to be true, and each of them has to be made. */
export function boxProgramOf({ names, statements }: Box): string {
  const made = [...names].filter((name) => !name.startsWith("$"));
  return [
    'import { type Reservation, createBerth, gpus } from "@berth/client";',
    "export default async function (): Promise<void> {",
    ...statements,
    ...made.map((name) => `void ${name};`),
    "}",
    "",
  ].join("\n");
}

/** The same of the shell. */
export function boxScriptOf({ names, assignments }: Box): string {
  const made = [...names].filter((name) => name.startsWith("$"));
  return [...assignments, ...made.map((name) => `: "${name}"`)].join("\n");
}
