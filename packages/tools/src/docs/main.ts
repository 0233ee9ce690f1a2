/**
 * `node packages/tools/src/docs/main.ts build` makes the site, `… run [PAGE…]` runs every block of the pages and compares
 * what they print, `… run --write` puts what they print into the pages. Without a word: both. `pnpm docs:check`.
 */
import { rm, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { withOutput } from "./blocks.ts";
import { difference } from "./compare.ts";
import { nameFaults } from "./names.ts";
import { type Page, allPages, readPage } from "./pages.ts";
import { type Ran, hearConsole, openModules, runPage } from "./run.ts";
import { openServers } from "./servers.ts";
import { build } from "./site.ts";
import { typeFaults } from "./types.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: "boolean", default: false },
    untyped: { type: "boolean", default: false },
  },
});
const [verb, ...files] = positionals;

async function run(pages: readonly Page[]): Promise<boolean> {
  const started = performance.now();
  const folder = await openModules();
  try {
    await using servers = openServers();
    const types = values.untyped ? "" : await typeFaults(pages, folder);
    if (types !== "") process.stderr.write(`types of the pages' blocks:\n${types}\n`);
    const names = await nameFaults(pages, folder);
    for (const fault of names) process.stderr.write(`${fault}\n`);
    const all: Ran[] = [];
    for (const page of pages) {
      const ran = await runPage(page, servers, folder);
      all.push(ran);
      for (const { line, text } of ran.faults)
        process.stderr.write(`${page.name}:${line}: ${text}\n\n`);
      if (values.write) await rewrite(ran);
    }
    summary(all, performance.now() - started);
    return types === "" && names.length === 0 && all.every(({ faults }) => faults.length === 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function summary(all: readonly Ran[], ms: number): void {
  const count = { run: 0, compared: 0, not: 0 };
  for (const { page, blocks, printed } of all)
    for (const [index, { noRun, output, line }] of blocks.entries()) {
      if (noRun !== undefined) {
        count.not += 1;
        process.stdout.write(`not run: ${page.name}:${line}: ${noRun}\n`);
        continue;
      }
      if (typeof printed[index] !== "string") continue;
      count.run += 1;
      if (output) count.compared += 1;
    }
  process.stdout.write(
    `${count.run} blocks of ${all.length} pages ran in ${(ms / 1000).toFixed(1)} s, ` +
      `${count.compared} outputs compared, ${count.not} blocks not run\n`,
  );
}

/** Puts what was printed into the page where it differs. */
async function rewrite({ page, blocks, printed }: Ran): Promise<void> {
  let text = page.text;
  for (const [index, { output, anyOrder }] of [...blocks.entries()].reverse()) {
    const got = printed[index];
    if (!output || typeof got !== "string" || difference(output.text, got, anyOrder) === null)
      continue;
    text = withOutput(text, output, got.trimEnd());
  }
  if (text !== page.text) await writeFile(page.path, text);
}

if (verb !== undefined && verb !== "build" && verb !== "run") {
  process.stderr.write(`${verb} is neither build nor run\n`);
  process.exit(2);
}
let isGood = true;
if (verb !== "run") isGood = await build();
if (verb !== "build") {
  hearConsole();
  isGood = (await run(files.length > 0 ? files.map(readPage) : allPages())) && isGood;
}
// Streams of blocks without an end are still open.
process.exit(isGood ? 0 : 1);
