/** Compiles the pages' TypeScript, each page as the module that it is run as. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { blocksOf } from "./blocks.ts";
import { type Page, ROOT } from "./pages.ts";
import { programOf } from "./program.ts";

/** What the compiler says; empty: nothing. */
export async function typeFaults(pages: readonly Page[], folder: string): Promise<string> {
  const files: string[] = [];
  for (const page of pages) {
    const blocks = blocksOf(page.text, page.sections);
    if (!blocks.some(({ language, noRun }) => language === "ts" && noRun === undefined)) continue;
    const file = path.join(folder, `${page.name.replaceAll(/[^A-Za-z0-9]+/g, "-")}.ts`);
    await writeFile(file, programOf(blocks));
    files.push(file);
  }
  if (files.length === 0) return "";
  const config = path.join(folder, "tsconfig.json");
  const compilerOptions = { noEmit: true, noUnusedLocals: false, noUnusedParameters: false };
  const extended = {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions,
    include: [],
    files,
  };
  await writeFile(config, JSON.stringify(extended));
  const tsc = path.join(ROOT, "node_modules/.bin/tsc");
  return new Promise((resolve) => {
    execFile(tsc, ["-p", config], { cwd: folder }, (error, stdout) => {
      resolve(error ? stdout || error.message : "");
    });
  });
}
