/** Runs the blocks of pages and holds what they print against the pages. */
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { type Block, blocksOf } from "./blocks.ts";
import { difference } from "./compare.ts";
import { type Page, ROOT } from "./pages.ts";
import { type Running, programOf } from "./program.ts";
import { type DemoServer, type Servers, giveBack } from "./servers.ts";
import { openShell } from "./shell.ts";

export interface Ran {
  readonly page: Page;
  readonly blocks: readonly Block[];
  /** What each block printed; null: it was not run, or its end was not seen. */
  readonly printed: readonly (string | null)[];
  readonly faults: readonly Fault[];
}

export interface Fault {
  readonly line: number;
  readonly text: string;
}

/** Modules are written here: inside the house, so that they find the client. Git does not see it. */
const MODULES = path.join(ROOT, "packages/tools/dist");
const PAGE_MS = 120_000;

/** Which page's output is being written; null: nobody's. */
const writing = new AsyncLocalStorage<(line: string) => void>();

/** From here on `console` writes to the page that runs. */
export function hearConsole(): void {
  const own = { log: console.log, warn: console.warn, error: console.error };
  for (const name of ["log", "warn", "error"] as const)
    console[name] = (...parts: unknown[]) => {
      const hear = writing.getStore();
      if (hear) hear(`${format(...parts)}\n`);
      else own[name](...parts);
    };
}

export async function openModules(): Promise<string> {
  await mkdir(MODULES, { recursive: true });
  return mkdtemp(path.join(MODULES, "docs-"));
}

/** @param folder from `openModules`; the page's files are kept in a folder of it */
export async function runPage(page: Page, servers: Servers, folder: string): Promise<Ran> {
  const blocks = blocksOf(page.text, page.sections);
  const server = await servers.get();
  const own = await mkdtemp(path.join(folder, "page-"));
  const printed: (string | null)[] = blocks.map(() => null);
  const faults: Fault[] = [];
  try {
    await runBlocks({ blocks, server, folder: own, printed, faults });
  } finally {
    await giveBack(server);
    await rm(own, { recursive: true, force: true });
  }
  for (const [index, block] of blocks.entries()) {
    const got = printed[index];
    if (!block.output || got === null || got === undefined) continue;
    const differs = difference(block.output.text, got, block.anyOrder);
    if (differs !== null) faults.push({ line: block.output.line, text: differs });
  }
  return { page, blocks, printed, faults };
}

interface Run {
  readonly blocks: readonly Block[];
  readonly server: DemoServer;
  readonly folder: string;
  readonly printed: (string | null)[];
  readonly faults: Fault[];
}

async function runBlocks({ blocks, server, folder, printed, faults }: Run): Promise<void> {
  const shell = await openShell(folder, server);
  let at = 0;
  const lineOf = (index: number) => blocks[index]?.line ?? 1;
  const running: Running = {
    poolId: server.poolId,
    adminToken: server.adminToken,
    begin(index) {
      at = index;
      printed[index] = "";
    },
    async shell(index) {
      at = index;
      const { code = "", status: wanted = 0 } = blocks[index] ?? {};
      const { status, printed: got } = await shell.run(code);
      printed[index] = got;
      if (status !== wanted)
        faults.push({
          line: lineOf(index),
          text: `ended with status ${status}, not ${wanted}:\n${got}`,
        });
    },
    failed: (index, error) => faults.push({ line: lineOf(index), text: format(error) }),
  };
  const hear = (line: string) => {
    printed[at] = (printed[at] ?? "") + line.replaceAll(server.url, "http://127.0.0.1:8787");
  };
  process.env["BERTH_URL"] = server.url;
  process.env["BERTH_TOKEN"] = server.token;
  try {
    const module = await load(
      folder,
      programOf(blocks).replaceAll("http://127.0.0.1:8787", server.url),
    );
    await writing.run(hear, () => limited(module.default(running)));
  } catch (error) {
    faults.push({ line: lineOf(at), text: format(error) });
  }
  for (const [index, got] of printed.entries())
    printed[index] = got?.replaceAll(server.url, "http://127.0.0.1:8787") ?? null;
}

interface PageModule {
  default(running: Running): Promise<void>;
}

async function load(folder: string, code: string): Promise<PageModule> {
  const file = path.join(folder, "page.mjs");
  await writeFile(file, stripTypeScriptTypes(code));
  return (await import(pathToFileURL(file).href)) as PageModule;
}

async function limited(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${PAGE_MS / 1000} s`)), PAGE_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
