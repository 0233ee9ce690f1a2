/**
 * The reference pages of the server: its settings and its metrics. No room may import an app, so a command of the
 * server's own writes them.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Generated } from "./generate.ts";

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, "../../../apps/server/src/main.ts");

let made: Promise<Generated[]> | undefined;

/** Made once a process: it takes another process to make them. */
export function generateServerPages(): Promise<Generated[]> {
  return (made ??= make());
}

async function make(): Promise<Generated[]> {
  const { stdout } = await run(process.execPath, [MAIN, "reference"]);
  const pages = JSON.parse(stdout) as Readonly<Record<string, string>>;
  return Object.entries(pages).map(([name, text]) => ({
    path: `apps/docs/reference/${name}.md`,
    text,
  }));
}
