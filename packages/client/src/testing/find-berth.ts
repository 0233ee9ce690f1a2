/** Where the command `berth` is. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";

/** How to start it. */
export interface Found {
  readonly file: string;
  readonly args: readonly string[];
  /** Programs of npm are scripts of the shell on Windows. */
  readonly isShell: boolean;
  /** For messages. */
  readonly shown: string;
}

const IS_WINDOWS = process.platform === "win32";

/** @throws Error that says what to do when there is none */
export async function findBerth(command: string | readonly string[] | undefined): Promise<Found> {
  const given = command ?? process.env["BERTH_COMMAND"];
  const words = typeof given === "string" ? given.split(/\s+/).filter(Boolean) : (given ?? []);
  const [file, ...args] = words;
  if (file !== undefined) return { file, args, isShell: IS_WINDOWS, shown: words.join(" ") };
  const installed = (await inModules(process.cwd())) ?? (await onPath());
  if (installed === undefined) throw new Error(NONE);
  return { file: installed, args: [], isShell: IS_WINDOWS, shown: installed };
}

const NONE = [
  "withBerth found no command `berth` to start a server with. The server is a clone of Berth's repository with its",
  "packages installed. It is on no registry, and npm's package `berth` is somebody else's.",
  "Then do one of these:",
  '- say where it is: BERTH_COMMAND="node /path/to/the/clone/apps/cli/bin/berth.js", or withBerth({ command })',
  "- link that file as `berth` onto the PATH or into node_modules/.bin",
  "- start `berth serve --ephemeral` yourself and give createBerth the url and token that it prints",
].join("\n");

/** Of the nearest folder upwards that has one. */
async function inModules(folder: string): Promise<string | undefined> {
  const found = await runnable(path.join(folder, "node_modules", ".bin"));
  if (found !== undefined) return found;
  const above = path.dirname(folder);
  return above === folder ? undefined : inModules(above);
}

async function onPath(): Promise<string | undefined> {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter(Boolean);
  for (const folder of folders) {
    const found = await runnable(folder);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function runnable(folder: string): Promise<string | undefined> {
  const file = path.join(folder, IS_WINDOWS ? "berth.cmd" : "berth");
  try {
    await access(file, constants.X_OK);
    return file;
  } catch {
    return undefined;
  }
}
