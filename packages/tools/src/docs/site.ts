/** Makes the site of apps/docs. A link to nowhere fails it, and so does anything that a page would load from elsewhere. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DOCS } from "./pages.ts";

const DIST = path.join(DOCS, ".vitepress/dist");
const FOREIGN = /<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/g;

/** Whether it could be made. */
export async function build(): Promise<boolean> {
  const vitepress = path.join(DOCS, "node_modules/vitepress/bin/vitepress.js");
  const child = spawn(process.execPath, [vitepress, "build", DOCS], { stdio: "inherit" });
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) return false;
  const pages = globSync("**/*.html", { cwd: DIST });
  const twins = globSync("**/*.md", { cwd: DIST });
  const foreign = [...foreignParts(pages)];
  for (const part of foreign) process.stderr.write(`loaded from elsewhere: ${part}\n`);
  process.stdout.write(
    `${pages.length} pages, ${twins.length} of them as Markdown, and llms.txt\n`,
  );
  return foreign.length === 0;
}

function* foreignParts(pages: readonly string[]): Generator<string> {
  for (const page of pages)
    for (const [part] of readFileSync(path.join(DIST, page), "utf8").matchAll(FOREIGN))
      yield `${page}: ${part}`;
  for (const style of globSync("assets/*.css", { cwd: DIST }))
    for (const [part] of readFileSync(path.join(DIST, style), "utf8").matchAll(
      /url\("?https?:[^)]*/g,
    ))
      yield `${style}: ${part}`;
}
