/**
 * What an embedded server keeps in its data folder: the database, the administrator's first key, and, while
 * it runs, where its database listens. Both files are for their owner's eyes only.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "./config.ts";

export interface DataFolder {
  readonly postgres: string;
  /** Whether a server has made its database here; makes nothing. */
  hasDatabase(): boolean;
  /** Makes the folder when it is missing. */
  prepare(): void;
  readAdminKey(): string | null;
  keepAdminKey(token: string): string;
  readDatabaseUrl(): string | null;
  keepDatabaseUrl(url: string): void;
  forgetDatabaseUrl(): void;
}

/** Nothing is touched yet; every method throws ConfigError when the folder is of no use. */
export function dataFolder(dir: string): DataFolder {
  const adminKey = join(dir, "admin-key");
  const databaseUrl = join(dir, "database-url");
  const postgres = join(dir, "postgres");
  const prepare = () =>
    usable(dir, () => {
      makeFolder(dir);
      accessSync(dir, constants.W_OK | constants.X_OK);
    });
  const keep = (file: string, text: string) => {
    prepare();
    return usable(dir, () => {
      rmSync(file, { force: true });
      writeFileSync(file, `${text}\n`, { mode: 0o600, flag: "wx" });
      return file;
    });
  };
  return {
    postgres,
    // A database that its server's account could not reach here is behind a link.
    hasDatabase: () =>
      usable(dir, () =>
        ["", "moved-to"].some((at) => existsSync(join(postgres, at, "PG_VERSION"))),
      ),
    prepare,
    readAdminKey: () => usable(dir, () => read(adminKey)),
    keepAdminKey: (token) => keep(adminKey, token),
    readDatabaseUrl: () => usable(dir, () => read(databaseUrl)),
    keepDatabaseUrl: (url) => void keep(databaseUrl, url),
    forgetDatabaseUrl: () => rmSync(databaseUrl, { force: true }),
  };
}

/** @throws ConfigError when the folder is a file, or the system refuses what we do in it */
function usable<T>(dir: string, work: () => T): T {
  try {
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new ConfigError(`BERTH_DATA_DIR ${dir} is a file: name a folder`);
    return work();
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error) || !("code" in error))
      throw error;
    throw new ConfigError(
      `BERTH_DATA_DIR ${dir} cannot be used (${String(error.code)}): name a folder that this user may write to`,
    );
  }
}

/** Level by level: Node's own way of it never ends where the system answers ENOENT, as below /proc. */
function makeFolder(dir: string): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir));
  try {
    mkdirSync(dir);
  } catch (error) {
    // Another start was quicker.
    if (!existsSync(dir)) throw error;
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
