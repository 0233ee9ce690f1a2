/** The reference page of the command line. No room may import an app, so a program of the command line's prints it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Generated } from "./generate.ts";

const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, "../../../apps/cli/src/reference.ts");

let made: Promise<Generated[]> | undefined;

/** Made once a process: it takes another process to make it. */
export function generateCliPage(): Promise<Generated[]> {
  return (made ??= make());
}

async function make(): Promise<Generated[]> {
  const { stdout } = await run(process.execPath, [PROGRAM]);
  return [{ path: "apps/docs/reference/cli.md", text: stdout }];
}
