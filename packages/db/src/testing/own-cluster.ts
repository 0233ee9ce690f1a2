/** A PostgreSQL of a test's own, durable as in production, to be killed, stopped and started again. */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client.ts";
import { dataFolder, serverAccount, serverPrograms } from "../embedded/account.ts";
import { initialize } from "../embedded/initialize.ts";
import { type RunningPostgres, startPostgres } from "../embedded/start-postgres.ts";
import { migrate } from "../migrate.ts";
import { type TestDatabase, lookingInto } from "./test-database.ts";
import { waitFor } from "./wait-for.ts";

export interface OwnCluster {
  /** A migrated database; its URL is the same after every start. Closing it ends the cluster. */
  readonly database: TestDatabase;
  /** The server's main process. @throws when none runs */
  pid(): number;
  /** The cluster's processes, the main one first. Linux only. */
  processes(): number[];
  /** Ends the main process with this signal, and resolves when all of the cluster is gone. */
  end(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void>;
  /** On the same folder and port. @throws when the server does not come up */
  start(): Promise<void>;
}

export interface OwnClusterOptions {
  readonly settings?: Readonly<Record<string, string | number>>;
  /** An empty folder to put the data folder in, which stays; default: a temporary one. */
  readonly within?: string;
}

const DATABASE = "berth";

/** About 2 s: a folder is made, a server started on it, a database migrated. */
export async function ownCluster(options: OwnClusterOptions = {}): Promise<OwnCluster> {
  const { settings = {} } = options;
  const scratch = options.within ?? mkdtempSync(join(tmpdir(), "berth-cluster-"));
  // The server's account may be another than ours.
  chmodSync(scratch, 0o755);
  const data = join(scratch, "data");
  makeFolder(data);
  let server = await startPostgres({ dir: data, settings });
  const { dir, port } = server;
  if (dir !== data) throw new Error(`the server's account cannot reach ${data}`);
  const url = server.url(DATABASE);
  await makeDatabase(server.url("postgres"));
  await migrate(url);
  const pid = (): number => {
    const [first] = readFileSync(join(dir, "postmaster.pid"), "utf8").split("\n");
    return Number(first);
  };
  const close = async (): Promise<void> => {
    await server.stop();
    await gone(server, dir);
    rmSync(dir, { recursive: true, force: true });
    if (!options.within) rmSync(scratch, { recursive: true, force: true });
  };
  return {
    database: lookingInto(url, close),
    pid,
    processes: () => processesIn(dir).toSorted((a, b) => Number(b === pid()) - Number(a === pid())),
    async end(signal) {
      process.kill(pid(), signal);
      await gone(server, dir);
    },
    async start() {
      server = await startPostgres({ dir, port, settings });
    },
  };
}

/** Without waiting for the disk: what is written afterwards is what has to last. */
function makeFolder(dir: string): void {
  const account = serverAccount();
  const bin = serverPrograms(account);
  initialize({ bin, dir: dataFolder(dir, account), account, sync: false });
}

async function makeDatabase(adminUrl: string): Promise<void> {
  const admin = createClient(adminUrl, { applicationName: "test-cluster", max: 1 });
  try {
    await admin.unsafe(`create database ${DATABASE}`);
  } finally {
    await admin.end({ timeout: 5 });
  }
}

/** The launcher's own process is gone, too: it ends after the server. */
async function gone(server: RunningPostgres, dir: string): Promise<void> {
  await waitFor(async () => processesIn(dir).length === 0, "the cluster's processes to go away");
  await server.stop();
}

/** Every process of a server has its data folder as working directory. */
function processesIn(dir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => workingFolder(name) === dir)
    .map(Number)
    .toSorted((a, b) => a - b);
}

function workingFolder(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}
