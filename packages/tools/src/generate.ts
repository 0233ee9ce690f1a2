/**
 * Writes every generated file (`pnpm generate`), or with `--check` compares and names what is stale. Add a
 * generator to the list below; it returns files and writes none.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateAdrIndex } from "./gen-adr-index.ts";
import { generateApi } from "./gen-api.ts";
import { generateCliPage } from "./gen-cli-page.ts";
import { generateClient } from "./gen-client.ts";
import { generateConstraints } from "./gen-constraints.ts";
import { generateErrors } from "./gen-errors.ts";
import { generateLlms } from "./gen-llms.ts";
import { generateMethods } from "./gen-methods.ts";
import { generateOpenapi } from "./gen-openapi.ts";
import { generateShards } from "./gen-shards.ts";
import { generateServerPages } from "./gen-server-pages.ts";
import { generateSupport } from "./gen-support.ts";
import { readWire } from "./wire-schema.ts";

/** A file that is made, not written: its path from the root and its text. */
export interface Generated {
  readonly path: string;
  readonly text: string;
}

const ROOT = join(import.meta.dirname, "../../..");

/** Every generator. */
const GENERATORS: readonly (() => readonly Generated[] | Promise<readonly Generated[]>)[] = [
  () => [generateApi(readWire())],
  () => generateClient(readWire()),
  () => [generateLlms(readWire())],
  () => [generateOpenapi(readWire())],
  () => generateMethods(readWire()),
  () => [generateConstraints(readWire())],
  generateErrors,
  () => [generateAdrIndex()],
  () => [generateSupport()],
  () => [generateShards()],
  generateServerPages,
  generateCliPage,
];

/** All generated files as they should be. */
export async function generated(): Promise<Generated[]> {
  const files: Generated[] = [];
  for (const generate of GENERATORS) files.push(...(await generate()));
  return files;
}

/** Paths of the generated files that are missing or differ from what they should be. */
export async function staleFiles(root: string = ROOT): Promise<string[]> {
  const files = await generated();
  const present = await Promise.all(
    files.map((file) => readFile(join(root, file.path), "utf8").catch(() => undefined)),
  );
  return files.filter((file, index) => present[index] !== file.text).map((file) => file.path);
}

async function write(): Promise<void> {
  const stale = new Set(await staleFiles());
  for (const file of await generated()) {
    if (!stale.has(file.path)) continue;
    await mkdir(dirname(join(ROOT, file.path)), { recursive: true });
    await writeFile(join(ROOT, file.path), file.text);
    process.stdout.write(`wrote ${file.path}\n`);
  }
  if (stale.size === 0) process.stdout.write("every generated file is as it should be\n");
}

async function check(): Promise<void> {
  const stale = await staleFiles();
  for (const path of stale) process.stderr.write(`stale: ${path} (run pnpm generate)\n`);
  if (stale.length > 0) process.exitCode = 1;
}

if (import.meta.main) await (process.argv.includes("--check") ? check() : write());
