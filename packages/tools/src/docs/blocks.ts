/** The blocks of a page that can be run, what the page says that they print, and what it says about running them. */

export interface Block {
  readonly language: "ts" | "sh";
  readonly code: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
  /** Why it is not run; absent: it is. */
  readonly noRun?: string;
  /** It stands in a comment: it is run, and no reader sees it. */
  readonly hidden: boolean;
  /** It has no end of its own: it runs beside what follows. */
  readonly endless: boolean;
  /** Lines of what it prints come in any order. */
  readonly anyOrder: boolean;
  /** The status that a shell is to end with. */
  readonly status: number;
  /** What it prints, as the page has it; absent: the page does not say. */
  readonly output?: Output;
}

export interface Output {
  readonly text: string;
  /** Of its first line, from 1. */
  readonly line: number;
}

interface Fence {
  readonly language: string;
  readonly label: string;
  readonly text: string;
  readonly line: number;
  readonly hidden: boolean;
  readonly marks: ReadonlyMap<string, string>;
}

/** A page that says something of its blocks that cannot be. */
export class PageError extends Error {}

const MARK = /^<!-- (no-run|endless|status|any-order)(?:: (.+?))? -->$/;
const OPEN = /^( *)(`{3,})(\w*)(.*)$/;

/**
 * Blocks in the order of the page, those inside comments as well. A `text` or `json` fence is what the block before
 * it prints, or, with a label, what the last block of that label prints that has nothing yet.
 *
 * @param sections only what is under these headings of the second level; absent: the whole page
 */
export function blocksOf(text: string, sections?: readonly string[]): Block[] {
  const found: (Block & { output?: Output; readonly label: string })[] = [];
  for (const fence of fencesOf(text, sections)) {
    if (fence.language === "ts" || fence.language === "sh") {
      found.push({ ...told(fence), language: fence.language, label: fence.label });
      continue;
    }
    if (fence.language !== "text" && fence.language !== "json") continue;
    const open = found.filter(({ label, output }) => label === fence.label && !output);
    const owner = fence.label === "" ? found.at(-1) : open.at(-1);
    if (owner && owner.output === undefined && (fence.label !== "" || follows(text, owner, fence)))
      owner.output = { text: fence.text, line: fence.line };
  }
  return found.map(({ label: _label, ...block }) => block);
}

function told({ text, line, hidden, marks }: Fence): Omit<Block, "language"> {
  const noRun = marks.get("no-run");
  if (noRun !== undefined && noRun.trim() === "")
    throw new PageError(`line ${line}: no-run needs a reason, as in <!-- no-run: why -->`);
  const status = Number(marks.get("status") ?? 0);
  if (!Number.isInteger(status) || status < 0)
    throw new PageError(`line ${line}: status takes a number, as in <!-- status: 3 -->`);
  const base = {
    code: text,
    line,
    hidden,
    endless: marks.has("endless"),
    anyOrder: marks.has("any-order"),
    status,
  };
  return noRun === undefined ? base : { ...base, noRun };
}

/** Nothing but blank lines and comments lies between the two. */
function follows(text: string, block: Block, { line }: Fence): boolean {
  const end = block.line + block.code.split("\n").length;
  const between = text.split("\n").slice(end, line - 2);
  return between.every((each) => each.trim() === "" || each.startsWith("<!--"));
}

function fencesOf(text: string, sections: readonly string[] | undefined): Fence[] {
  const lines = text.split("\n");
  for (const section of sections ?? [])
    if (!lines.includes(`## ${section}`)) throw new PageError(`there is no section "${section}"`);
  const fences: Fence[] = [];
  let marks = new Map<string, string>();
  let isWanted = sections === undefined;
  let hidden = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("<!--")) hidden = true;
    if (line.endsWith("-->")) hidden = false;
    const mark = MARK.exec(line.trim());
    if (mark) marks.set(mark[1] ?? "", mark[2] ?? "");
    const heading = /^## (.+)$/.exec(line);
    if (heading && sections) isWanted = sections.includes(heading[1] ?? "");
    const open = OPEN.exec(line);
    if (!open) {
      // The head of tabs lies between a mark and its block.
      if (!mark && line.trim() !== "" && !line.startsWith(":::")) marks = new Map();
      continue;
    }
    const end = closing(lines, at, open[2] ?? "");
    const [label = ""] = /(?<=\[)[^\]]+(?=\])/.exec(open[4] ?? "") ?? [];
    const indent = (open[1] ?? "").length;
    const body = lines.slice(at + 1, end).map((each) => each.slice(indent));
    if (isWanted)
      fences.push({
        language: open[3] ?? "",
        label,
        text: body.join("\n"),
        line: at + 2,
        hidden,
        marks,
      });
    // Tabs share what is said above them.
    const next = lines.slice(end + 1).find((each) => each.trim() !== "") ?? "";
    if (label === "" || !OPEN.test(next)) marks = new Map();
    at = end;
  }
  return fences;
}

function closing(lines: readonly string[], from: number, ticks: string): number {
  const at = lines.findIndex((line, index) => index > from && line.trim() === ticks);
  if (at === -1) throw new PageError(`line ${from + 1}: the block is not closed`);
  return at;
}

/** The page with another text in place of this output. */
export function withOutput(text: string, output: Output, printed: string): string {
  const lines = text.split("\n");
  const before = output.line - 1;
  lines.splice(
    before,
    output.text === "" && lines[before]?.startsWith("```") ? 0 : output.text.split("\n").length,
    ...printed.split("\n"),
  );
  return lines.join("\n");
}
