/** What the checks of the packed client share: where things are, how programs are run, how a finding is told. */
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

export const ROOT = path.resolve(import.meta.dirname, "../../../..");
export const CLIENT = path.join(ROOT, "packages/client");
export const NPM_FLAGS = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];

const LIMIT_MS = 180_000;
const run = promisify(execFile);

/** Throws what is wrong, answers its figure when nothing is. */
export type Check = () => Promise<string>;

/** Runs a program to its end and answers what it wrote. @throws Error with all that it wrote */
export async function command(cwd: string, file: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(file, args, { cwd, timeout: LIMIT_MS, maxBuffer: 2 ** 26 });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${path.basename(file)} ${args.join(" ")}\n${stdout}${stderr}`.trim(), {
      cause: error,
    });
  }
}

/** A program that the client's package installs. */
export function bin(name: string): string {
  return path.join(CLIENT, "node_modules/.bin", name);
}

export function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
