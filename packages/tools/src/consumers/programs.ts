/** Programs that a consumer runs on: this workspace's, and what else is on this machine. */
import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { access, readdir, realpath } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { CLIENT, ROOT } from "../pack/command.ts";
import { Absent } from "./stage.ts";

const run = promisify(execFile);

export interface Program {
  readonly file: string;
  readonly version: string;
}

/** The oldest that the package says it runs on. */
const NODE_MIN = 20;

/** This workspace's Node, and the ones on the PATH that the package is for, each version once. */
export async function nodes(): Promise<Program[]> {
  const found = new Map<string, Program>();
  const outside = (process.env["PATH"] ?? "")
    .split(path.delimiter)
    .filter((folder) => folder !== "" && !folder.startsWith(ROOT))
    .map((folder) => path.join(folder, "node"));
  for (const file of [process.execPath, ...outside.filter((each) => existsSync(each))]) {
    const version = await versionOf(file);
    const major = Number(/^v(\d+)\./.exec(version)?.[1]);
    if (major >= NODE_MIN && !found.has(version)) found.set(version, { file, version });
  }
  return [...found.values()];
}

/** The binary of a runtime whose package is a wrapper around one for each platform. */
export async function wrapped(name: string, scope: string, inside: string): Promise<Program> {
  const beside = path.join(await realpath(path.join(CLIENT, "node_modules", name)), "..", scope);
  for (const platform of await readdir(beside).catch(() => [])) {
    const file = path.join(beside, platform, inside);
    const version = await versionOf(file).catch(() => undefined);
    if (version !== undefined) return { file, version };
  }
  throw new Absent(`no ${name} for this platform`);
}

/** The system's. */
export async function chromium(): Promise<Program> {
  for (const file of ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]) {
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return { file, version: (await versionOf(file)).replace(/ built on.*/, "") };
  }
  throw new Absent("no Chromium: apt-get install chromium");
}

async function versionOf(file: string): Promise<string> {
  const { stdout } = await run(file, ["--version"], { timeout: 30_000 });
  return stdout.trim().split("\n")[0] ?? "";
}
