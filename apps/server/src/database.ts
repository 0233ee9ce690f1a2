/** The database a command works on: the one of DATABASE_URL, or the embedded one, running already or not. */
import { resolve } from "node:path";
import {
  ConnectionLost,
  type Failpoint,
  FolderInUse,
  UnknownOutcome,
  openDatabase,
  sqlState,
  startPostgres,
  startTemporary,
} from "@berth/db";
import { type Config, ConfigError } from "./config.ts";
import { dataFolder } from "./data-folder.ts";

export interface Server {
  readonly url: string;
  /** What people call it; without a password. */
  readonly name: string;
  /** Stops what was started for us; a server of somebody else goes on. */
  stop(): Promise<void>;
}

const EMBEDDED_DATABASE = "berth";

export interface OwnServerOptions {
  readonly ephemeral?: boolean;
  readonly failpoint?: Failpoint | undefined;
}

/** A server of its own for `serve`: nobody else may be on the data folder. */
export async function ownServer(config: Config, options: OwnServerOptions = {}): Promise<Server> {
  const { ephemeral = false, failpoint } = options;
  if (ephemeral) return temporaryServer(failpoint);
  if (config.databaseUrl !== null) return external(config.databaseUrl);
  const folder = dataFolder(config.dataDir);
  folder.prepare();
  const postgres = await startPostgres({ dir: folder.postgres, failpoint });
  await makeDatabase(postgres.url("postgres"));
  const url = postgres.url(EMBEDDED_DATABASE);
  folder.keepDatabaseUrl(url);
  return {
    url,
    name: embeddedName(config),
    async stop() {
      folder.forgetDatabaseUrl();
      await postgres.stop();
    },
  };
}

/** With a database of this version that is gone when it stops; no data folder is looked at. */
export async function temporaryServer(failpoint?: Failpoint): Promise<Server> {
  const postgres = await startTemporary({ database: EMBEDDED_DATABASE, failpoint });
  return {
    url: postgres.url(EMBEDDED_DATABASE),
    name: "a temporary database",
    stop: () => postgres.stop(),
  };
}

async function makeDatabase(adminUrl: string): Promise<void> {
  const { sql, close } = openDatabase(adminUrl, { connections: 1, writers: 1 });
  try {
    const found = await sql`select 1 from pg_database where datname = ${EMBEDDED_DATABASE}`;
    if (found.length === 0) await sql.unsafe(`create database ${EMBEDDED_DATABASE}`);
  } finally {
    await close();
  }
}

/** The server for a command beside a running `serve`, or without one. */
async function anyServer(config: Config, options: ServerOptions): Promise<Server> {
  if (config.databaseUrl !== null) return external(config.databaseUrl);
  if (options.existing && !dataFolder(config.dataDir).hasDatabase())
    throw new ConfigError(
      `no database in ${resolve(config.dataDir)}: name its folder with BERTH_DATA_DIR, or set DATABASE_URL`,
    );
  try {
    return await ownServer(config);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    const url = dataFolder(config.dataDir).readDatabaseUrl();
    if (url === null) throw error;
    return { ...external(url), name: embeddedName(config) };
  }
}

const external = (url: string): Server => ({
  url,
  name: nameOf(url),
  stop: () => Promise.resolve(),
});

const embeddedName = (config: Config) => `the embedded database in ${resolve(config.dataDir)}`;

export interface ServerOptions {
  /** Only a database that is there: an embedded one is not made. */
  readonly existing?: boolean;
}

/**
 * Runs `work` with the server and leaves everything as it was found.
 * @throws ConfigError when there is none and none is to be made, DatabaseUnavailable when it does not let us in
 */
export async function withServer<T>(
  config: Config,
  options: ServerOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await anyServer(config, options);
  try {
    return await work(server);
  } catch (error) {
    throw databaseProblem(error, server.url);
  } finally {
    await server.stop();
  }
}

/** The database does not let us in, or hung up; the message says which one and why, never the password. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** Not let in, no such database, no right to it, no connection left, not up yet, or no way to its address. */
const REFUSED =
  /^(28...|3D000|42501|53300|57P0[1-5]|08...|CONN\w+|ECONN\w+|E(TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE)|EAI_AGAIN)$/;

/** An error of the connection as one that names the database; any other error as it is. */
export function databaseProblem(error: unknown, url: string): unknown {
  const cause = underneath(error);
  if (cause === error && !REFUSED.test(sqlState(error) ?? "")) return error;
  return new DatabaseUnavailable(`cannot use ${nameOf(url)}: ${reasonOf(cause)}`, { cause: error });
}

/** What a lost connection was lost of. */
function underneath(error: unknown): unknown {
  const lost = error instanceof ConnectionLost || error instanceof UnknownOutcome;
  return lost && error.cause instanceof Error ? underneath(error.cause) : error;
}

/** An attempt at several addresses of one name has no message of its own. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : "";
  return (text || sqlState(cause) || "the connection was lost").split("\n", 1)[0] ?? "";
}

/** Database, host and port of a URL, with the driver's defaults. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return "the database of DATABASE_URL";
  const { hostname, port, pathname, username } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1) || username);
  return `database ${JSON.stringify(database)} at ${hostname || "localhost"}:${port || "5432"}`;
}
