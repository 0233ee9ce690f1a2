/**
 * What an embedded server keeps in its data folder: the database, the administrator's first key, and, while
 * it runs, where its database listens. Both files are for their owner's eyes only.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface DataFolder {
  readonly postgres: string;
  readAdminKey(): string | null;
  keepAdminKey(token: string): string;
  readDatabaseUrl(): string | null;
  keepDatabaseUrl(url: string): void;
  forgetDatabaseUrl(): void;
}

export function dataFolder(dir: string): DataFolder {
  const adminKey = join(dir, "admin-key");
  const databaseUrl = join(dir, "database-url");
  const keep = (file: string, text: string) => {
    mkdirSync(dir, { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: "wx" });
    return file;
  };
  return {
    postgres: join(dir, "postgres"),
    readAdminKey: () => read(adminKey),
    keepAdminKey: (token) => keep(adminKey, token),
    readDatabaseUrl: () => read(databaseUrl),
    keepDatabaseUrl: (url) => void keep(databaseUrl, url),
    forgetDatabaseUrl: () => rmSync(databaseUrl, { force: true }),
  };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
