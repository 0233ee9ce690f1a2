/**
 * A page as one module: every block is in a scope inside the one before, so that it sees what was declared there and
 * may declare it anew. Blocks of the shell are run in between.
 */
import type { Block } from "./blocks.ts";

/** What a page's module is called with. */
export interface Running {
  readonly poolId: string;
  readonly adminToken: string;
  /** A block of TypeScript begins. */
  begin(index: number): void;
  /** Runs a block of the shell. */
  shell(index: number): Promise<void>;
  /** A block that has no end failed. */
  failed(index: number, error: unknown): void;
}

const IMPORT = /^import (type )?\{([^}]*)\} from "([^"]+)";\n?/gm;

/** What every page may take for granted; the guides say so in their index. */
const GIVEN = `
  const tenantId = "vision";
  const { poolId } = page;
  const profileId = "ubuntu-24.04";
  const berth = createBerth();
  const admin = createBerth({ token: page.adminToken });
  const ask = { tenantId, poolId, ...gpus(8), duration: "4h" };
  async function train(_held: Reservation, _more: { signal: AbortSignal }): Promise<void> {}
`;

const RUNNING = `{
  readonly poolId: string;
  readonly adminToken: string;
  begin(index: number): void;
  shell(index: number): Promise<void>;
  failed(index: number, error: unknown): void;
}`;

/** TypeScript; its default export runs the page. */
export function programOf(blocks: readonly Block[]): string {
  return moduleOf(blocks, { import: "createBerth, gpus, type Reservation", given: GIVEN });
}

/** The same of what a reader sees, with nothing taken for granted; every block says before its code where it stands. */
export function seenProgramOf(blocks: readonly Block[]): string {
  const seen = blocks.filter(({ hidden }) => !hidden);
  // What is not run is read all the same.
  const read = seen.map(({ noRun: _reason, ...block }) => block);
  return moduleOf(read, { import: "", given: "" });
}

/** Where the block begins that holds this line of a program, as a line of the page. */
export function pageLineOf(program: string, line: number): number {
  const before = program.split("\n").slice(0, line).join("\n");
  return Number([...before.matchAll(/^\/\/ line (\d+)$/gm)].at(-1)?.[1] ?? 1);
}

function moduleOf(
  blocks: readonly Block[],
  granted: { readonly import: string; readonly given: string },
): string {
  const imports = new Map<string, Set<string>>();
  const add = (module: string, names: string) => {
    const known = imports.get(module) ?? new Set();
    for (const name of names.split(",")) if (name.trim() !== "") known.add(name.trim());
    imports.set(module, known);
  };
  if (granted.import !== "") add("@berth/client", granted.import);
  const body = blocks.map((block, index) => part(block, index, add));
  const heads = [...imports].map(
    ([module, names]) => `import { ${[...distinct(names)].join(", ")} } from "${module}";`,
  );
  return [
    ...heads,
    `export default async function (page: ${RUNNING}): Promise<void> {${granted.given}`,
    ...body,
    `${"}".repeat(blocks.length)}`,
    "}",
    "",
  ].join("\n");
}

/** A name that is imported as a value is not imported as a type once more. */
function distinct(names: ReadonlySet<string>): string[] {
  return [...names].filter((name) => !name.startsWith("type ") || !names.has(name.slice(5)));
}

function part(block: Block, index: number, add: (module: string, names: string) => void): string {
  if (block.noRun !== undefined) return "{";
  if (block.language === "sh") return `{ await page.shell(${index});`;
  for (const [, type, names = "", from = ""] of block.code.matchAll(IMPORT))
    add(from, type ? names.replaceAll(/\w+/g, "type $&") : names);
  const code = block.code.replaceAll(IMPORT, "");
  if (!block.endless) return `{ page.begin(${index});\n// line ${block.line}\n${code}\n`;
  return `{ page.begin(${index});
void (async () => {\n// line ${block.line}\n${code}\n})().catch((error: unknown) => page.failed(${index}, error));\n`;
}
