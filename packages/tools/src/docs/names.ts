/**
 * Names that a page's visible blocks use and nothing that a reader sees defines: what only a hidden block defines, or
 * the runner grants, the box "You have" at the page's top has to name, with the line that makes it.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type Block, blocksOf } from "./blocks.ts";
import { type Box, boxOf, boxProgramOf, boxScriptOf } from "./box.ts";
import { type Page, ROOT } from "./pages.ts";
import { pageLineOf, seenProgramOf } from "./program.ts";
import { unsetIn } from "./shell-names.ts";

interface Use {
  /** As the box writes it. */
  readonly name: string;
  /** Of the page: where the block begins. */
  readonly line: number;
}

interface Read {
  readonly page: string;
  readonly blocks: readonly Block[];
  readonly box: Box;
}

const DO = 'say in the box "You have" at the top what it is and how one gets it';

/** What no box names, what a box names in vain, and what its lines do not make. */
export async function nameFaults(pages: readonly Page[], folder: string): Promise<string[]> {
  const read = pages.map(({ name, text, sections }): Read => ({
    page: name,
    blocks: blocksOf(text, sections),
    box: boxOf(text),
  }));
  const [unknown, wrong] = await Promise.all([unknownIn(read, folder), wrongIn(read, folder)]);
  return read.flatMap(({ page, blocks, box }, at) => {
    const scripts = blocks.filter(({ language, hidden }) => language === "sh" && !hidden);
    const unset = unsetIn(scripts).map(({ name, script }) => ({ name, line: script.line }));
    const first = new Map<string, number>();
    for (const { name, line } of [...(unknown[at] ?? []), ...unset])
      if (!first.has(name)) first.set(name, line);
    const missing = [...first].filter(([name]) => !box.names.has(name));
    const idle = [...box.names].filter((name) => !first.has(name));
    const unmade = unsetIn([{ code: boxScriptOf(box) }]);
    return [
      ...missing.map(([name, line]) => `${page}:${line}: no reader sees what ${name} is: ${DO}`),
      ...idle.map((name) => `${page}: its box names ${name}, which no block needs from it`),
      ...(wrong[at] ?? []).map((said) => `${page}: a line of its box: ${said}`),
      ...unmade.map(({ name }) => `${page}: no line of its box makes ${name}`),
    ];
  });
}

/** A name that is nowhere, one with a guess, a shorthand, a namespace. */
const UNKNOWN = /^error TS(?:2304|2552|18004|2503): .*?'([^']+)'/;

/** For each page what its visible blocks use of TypeScript and do not have. */
async function unknownIn(read: readonly Read[], folder: string): Promise<Use[][]> {
  const programs = read.map(({ blocks }) => seenProgramOf(blocks));
  const said = await compiled(programs, { folder, prefix: "seen" });
  return said.map((each, at) =>
    each.flatMap(({ line, text }) => {
      const [, name] = UNKNOWN.exec(text) ?? [];
      return name === undefined ? [] : [{ name, line: pageLineOf(programs[at] ?? "", line) }];
    }),
  );
}

/** For each page what the compiler says of its box. */
async function wrongIn(read: readonly Read[], folder: string): Promise<string[][]> {
  const programs = read.map(({ box }) => boxProgramOf(box));
  const said = await compiled(programs, { folder, prefix: "box" });
  return said.map((each) => each.map(({ text }) => text));
}

interface Said {
  /** Of the program, from 1. */
  readonly line: number;
  readonly text: string;
}

/** What the compiler says of each program. */
async function compiled(
  programs: readonly string[],
  { folder, prefix }: { readonly folder: string; readonly prefix: string },
): Promise<Said[][]> {
  const files = programs.map((_, at) => path.join(folder, `${prefix}-${at}.ts`));
  await Promise.all(programs.map((program, at) => writeFile(files[at] ?? "", program)));
  const config = path.join(folder, `${prefix}.json`);
  const extended = {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions: { noEmit: true, noUnusedLocals: false, noUnusedParameters: false },
    include: [],
    files,
  };
  await writeFile(config, JSON.stringify(extended));
  const said: Said[][] = programs.map(() => []);
  const form = new RegExp(
    `^(?:.*[/\\\\])?${prefix}-(\\d+)\\.ts\\((\\d+),\\d+\\): (error .*)$`,
    "gm",
  );
  for (const [, at = "", line = "", text = ""] of (await outputOf(config)).matchAll(form))
    said[Number(at)]?.push({ line: Number(line), text });
  return said;
}

function outputOf(config: string): Promise<string> {
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  return new Promise((resolve, reject) => {
    execFile(tsc, ["-p", config, "--pretty", "false"], (error, stdout) => {
      // That there are errors is what is asked for; that it could not be started is not.
      if (error && typeof error.code !== "number") reject(error);
      else resolve(stdout);
    });
  });
}
