/**
 * A temporary server with a migrated database in it, in a fraction of the time that making one takes: what has
 * to be made is made once for each version, kept where the system keeps caches, and copied from there.
 */
import { createHash } from "node:crypto";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  utimes,
} from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client.ts";
import { migrate, migrationHashes } from "../migrate.ts";
import { type Account, ROOT_HOME, serverAccount, serverVersion } from "./account.ts";
import { type PostgresOptions, type RunningPostgres, startPostgres } from "./start-postgres.ts";

export interface TemporaryOptions extends Pick<PostgresOptions, "failpoint"> {
  /** The name of the database that is to be there. */
  readonly database: string;
  /** Where copies are made from; null: from nowhere, all is made anew. Default: the system's place for caches. */
  readonly cache?: string | null;
}

/** What is gone with its server needs no care for power cuts. */
const SETTINGS = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };
/** Templates of other versions that nobody has copied for so long are removed when one is made. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/** A temporary server, with the database of this version in it. */
export async function startTemporary(options: TemporaryOptions): Promise<RunningPostgres> {
  const { failpoint, cache = systemCache() } = options;
  const shared = { ephemeral: true, settings: SETTINGS, failpoint };
  const template = cache === null ? null : await templateIn(cache, options).catch(() => null);
  if (template !== null) {
    const fill = (dir: string) => copyTo(dir, template);
    try {
      return await startPostgres({ ...shared, fill });
    } catch {
      // A damaged copy must not keep anybody from starting: the next start makes it anew.
      await rm(template, { recursive: true, force: true });
    }
  }
  const server = await startPostgres(shared);
  try {
    await makeDatabase(server, options);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function makeDatabase(
  server: RunningPostgres,
  { database, failpoint }: TemporaryOptions,
): Promise<void> {
  const admin = createClient(server.url("postgres"), { applicationName: "berth-make", max: 1 });
  await admin.unsafe(`create database ${database}`).finally(() => admin.end());
  await migrate(server.url(database), { failpoint });
}

/** For root a folder where only root writes: what is copied from here is run as another account. */
function systemCache(): string | null {
  if (process.getuid?.() === 0) return join(ROOT_HOME, "templates");
  const { env, platform } = process;
  if (platform === "win32") return env["LOCALAPPDATA"] ? join(env["LOCALAPPDATA"], "berth") : null;
  const home = homedir();
  if (home === "" || home === "/") return null;
  if (platform === "darwin") return join(home, "Library", "Caches", "berth");
  return join(env["XDG_CACHE_HOME"] || join(home, ".cache"), "berth");
}

/** The folder of this version's template; made when it is not there. */
async function templateIn(cache: string, options: TemporaryOptions): Promise<string> {
  const dir = join(cache, nameOf(options.database));
  if (await isThere(dir)) return dir;
  const account = serverAccount();
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const half = await mkdtemp(join(cache, "making-"));
  try {
    // The server's account has to get to the folder while it is made, and not after.
    await chmod(half, 0o755);
    await makeTemplate(join(half, "data"), account, options);
    await rename(join(half, "data"), dir).catch(async (error: unknown) => {
      // Another first start was quicker.
      if (!(await isThere(dir))) throw error;
    });
  } finally {
    await rm(half, { recursive: true, force: true });
  }
  await removeUnused(cache, dir);
  return dir;
}

/** Made with every care for power cuts: it outlives many servers. */
async function makeTemplate(
  dir: string,
  account: Account,
  options: TemporaryOptions,
): Promise<void> {
  const server = await startPostgres({ dir, small: true });
  try {
    if (server.dir !== dir) throw new Error(`the server's account cannot reach ${dir}`);
    await makeDatabase(server, options);
  } finally {
    await server.stop();
  }
  if (account) await giveTo(dir, { uid: 0, gid: 0 });
}

function nameOf(database: string): string {
  const hash = createHash("sha256").update(JSON.stringify([database, ...migrationHashes()]));
  return `template-${serverVersion()}-${process.arch}-${hash.digest("hex").slice(0, 16)}`;
}

async function copyTo(dir: string, template: string): Promise<void> {
  await cp(template, dir, { recursive: true });
  const now = new Date();
  await utimes(template, now, now).catch(() => undefined);
  await chmod(dir, 0o700);
  const account = serverAccount();
  if (account) await giveTo(dir, account);
}

async function giveTo(dir: string, { uid, gid }: NonNullable<Account>): Promise<void> {
  const entries = await readdir(dir, { recursive: true });
  await Promise.all(["", ...entries].map((entry) => chown(join(dir, entry), uid, gid)));
}

async function removeUnused(cache: string, kept: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const dir = join(cache, name);
    if (dir === kept || !/^(?:template|making)-/.test(name)) continue;
    const { mtimeMs } = await stat(dir);
    if (Date.now() - mtimeMs > UNUSED_MS) await rm(dir, { recursive: true, force: true });
  }
}

const isThere = (dir: string) =>
  stat(join(dir, "PG_VERSION")).then(
    () => true,
    () => false,
  );
