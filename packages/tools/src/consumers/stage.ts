/** What the consumers share: an empty folder with the tarball in it, programs run there, how one says that it cannot be. */
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestBerth } from "@berth/client/testing";
import { NPM_FLAGS, ROOT, command, demand } from "../pack/command.ts";

export const APPS = path.join(import.meta.dirname, "apps");

export const SERVER = [process.execPath, path.join(ROOT, "apps/server/src/main.ts")];

/** A token of one of the example's tenants. */
export function tenantOf({ fleet }: Pick<TestBerth, "fleet">): string {
  return Object.values(fleet?.tenants ?? {})[0] ?? "";
}

/** Against what the consumers run. */
export interface Stage {
  readonly tarball: string;
  readonly url: string;
  /** A key of a tenant that books. */
  readonly token: string;
}

/** What a consumer came to. */
export interface Told {
  /** Of what it ran on. */
  readonly versions: string;
  readonly ran: string;
}

export interface Consumer {
  readonly name: string;
  /** Throws what is wrong; `Absent` when what it runs on is not on this machine. */
  run(stage: Stage): Promise<Told>;
}

/** What a consumer runs on is not on this machine: nothing was proved, and nothing failed. */
export class Absent extends Error {}

const LIMIT_MS = 120_000;
/** Of what a program that failed wrote, its end is shown. */
const TAIL = 3_000;
const run = promisify(execFile);

export interface Outsider {
  readonly folder: string;
  /** Beside `BERTH_URL` and `BERTH_TOKEN`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program of somebody else's; answers the one line that it printed. @throws Error also when it warned */
export async function lineOf(
  stage: Stage,
  { folder, env = {} }: Outsider,
  [file, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const { stdout, stderr } = await run(file, args, {
    cwd: folder,
    timeout: LIMIT_MS,
    env: { ...outside(folder), BERTH_URL: stage.url, BERTH_TOKEN: stage.token, ...env },
  }).catch((error: { readonly stderr?: string }) => {
    throw new Error(`${path.basename(file)} failed:\n${(error.stderr ?? "").slice(-TAIL)}`, {
      cause: error,
    });
  });
  demand(
    stderr === "",
    `${path.basename(file)} ${args.join(" ")} wrote to its error output:\n${stderr}`,
  );
  return stdout.trim();
}

/** An environment that knows nothing of this workspace. */
function outside(folder: string): Record<string, string> {
  const { PATH = "", HOME = folder } = process.env;
  const paths = PATH.split(path.delimiter).filter((entry) => !entry.startsWith(ROOT));
  return { PATH: paths.join(path.delimiter), HOME, NO_COLOR: "1" };
}

/** The same line of every app, whatever ran it. */
const WORKED = "fits, active, reservation.created, released, held active, 512 are over the quota";

export function expectWorked(line: string): string {
  demand(line === WORKED, `it was to say\n  ${WORKED}\nand said\n  ${line}`);
  return "booked, renewed, watched, released, held, refused";
}

/** An empty folder outside the workspace, with the tarball and these packages of npm's, and these apps of ours. */
export async function inFolder<T>(
  { tarball }: Pick<Stage, "tarball">,
  {
    packages = [],
    apps = [],
  }: { readonly packages?: readonly string[]; readonly apps?: readonly string[] },
  body: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-consumer-"));
  try {
    await writeFile(
      path.join(folder, "package.json"),
      '{ "name": "consumer", "private": true, "type": "module" }\n',
    );
    await command(folder, "npm", [
      "install",
      ...NPM_FLAGS,
      "--prefer-offline",
      tarball,
      ...packages,
    ]);
    for (const app of apps)
      await copyFile(path.join(APPS, app), path.join(folder, path.basename(app)));
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `name@version`, as this workspace has it: found from the folder of a package that names it. */
export async function pinned(room: string, name: string): Promise<string> {
  return `${name}@${await versionAt(path.join(ROOT, room, "node_modules", name))}`;
}

export async function versionAt(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
