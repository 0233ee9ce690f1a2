/** What `berth login` keeps: one server and one token, for the eyes of this user. */
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { usage } from "./exit.ts";
import type { Io } from "./io.ts";

export interface Login {
  readonly url: string;
  readonly token: string;
  /** Who is booked for; null: the key's own. */
  readonly tenantId: string | null;
}

/** Where it is kept, by the rules of the system: `$XDG_CONFIG_HOME/berth/config.json`. */
export function configFile({ env }: Pick<Io, "env">): string {
  const home = env["HOME"] || homedir();
  const folder =
    env["XDG_CONFIG_HOME"] ||
    (process.platform === "win32" && env["APPDATA"]) ||
    path.join(home, ".config");
  return path.join(folder, "berth", "config.json");
}

/** Null when there is none. @throws Quit for one that is damaged, or that others can read */
export async function readLogin(io: Pick<Io, "env">): Promise<Login | null> {
  const file = configFile(io);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw usage(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const { mode } = await stat(file);
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw usage(`${file} holds a token and others can read it: chmod 600 ${file}`);
  return loginOf(text) ?? damaged(file);
}

function damaged(file: string): never {
  throw usage(`${file} is damaged: log in anew with berth login, or delete it`);
}

function loginOf(text: string): Login | undefined {
  try {
    const { url, token, tenantId = null } = JSON.parse(text) as Partial<Login>;
    if (typeof url !== "string" || typeof token !== "string") return undefined;
    return { url, token, tenantId };
  } catch {
    return undefined;
  }
}

/** Replaces the file in one step; at no time can anybody else read it. */
export async function writeLogin(io: Pick<Io, "env">, login: Login): Promise<string> {
  const file = configFile(io);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  try {
    await writeFile(next, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    await chmod(next, 0o600);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  return file;
}
