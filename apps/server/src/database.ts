/** The database a command works on: the one of DATABASE_URL, or the embedded one, running already or not. */
import { FolderInUse, openDatabase, startPostgres } from "@berth/db";
import type { Config } from "./config.ts";
import { dataFolder } from "./data-folder.ts";

export interface Server {
  readonly url: string;
  /** Stops what was started for us; a server of somebody else goes on. */
  stop(): Promise<void>;
}

const EMBEDDED_DATABASE = "berth";

/** A server of its own for `serve`: nobody else may be on the data folder. */
export async function ownServer(config: Config, ephemeral: boolean): Promise<Server> {
  if (config.databaseUrl !== null && !ephemeral) return external(config.databaseUrl);
  const folder = dataFolder(config.dataDir);
  const postgres = await startPostgres(ephemeral ? { ephemeral } : { dir: folder.postgres });
  await makeDatabase(postgres.url("postgres"));
  const url = postgres.url(EMBEDDED_DATABASE);
  if (!ephemeral) folder.keepDatabaseUrl(url);
  return {
    url,
    async stop() {
      if (!ephemeral) folder.forgetDatabaseUrl();
      await postgres.stop();
    },
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
async function anyServer(config: Config): Promise<Server> {
  try {
    return await ownServer(config, false);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    const url = dataFolder(config.dataDir).readDatabaseUrl();
    if (url === null) throw error;
    return external(url);
  }
}

const external = (url: string): Server => ({ url, stop: () => Promise.resolve() });

/** Runs `work` with the server's URL and leaves everything as it was found. */
export async function withServer<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const server = await anyServer(config);
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}
