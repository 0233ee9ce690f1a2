/** PostgreSQL as Debian packages it, 15 or newer, with its own pg_dump: clusters of it for a test, in temporary folders. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PACKAGES = "/usr/lib/postgresql";
const OLDEST = 15;

export interface Programs {
  readonly bin: string;
  readonly version: number;
}

/** The oldest that we promise to run on, or the next; null and a loud line where there is none. */
export function debianPostgres(): Programs | null {
  const versions = existsSync(PACKAGES)
    ? readdirSync(PACKAGES)
        .map(Number)
        .filter((version) => version >= OLDEST)
        .toSorted((a, b) => a - b)
    : [];
  for (const version of versions) {
    const bin = join(PACKAGES, String(version), "bin");
    if (
      ["initdb", "postgres", "pg_dump", "pg_restore"].every((name) => existsSync(join(bin, name)))
    )
      return { bin, version };
  }
  process.stderr.write(
    `\n*** NOT TESTED: restore and PostgreSQL ${OLDEST}. There is no ${PACKAGES}/*/bin with pg_dump: ` +
      "`apt-get install postgresql` brings it. ***\n\n",
  );
  return null;
}

export interface Cluster {
  url(database: string): string;
  /** Runs a program of this version as the cluster's account; answers what it wrote. */
  run(program: string, args: readonly string[]): string;
  stop(): Promise<void>;
}

/** A fresh cluster on a free port; its user is `postgres`, without a password, from this machine only. */
export async function startCluster({ bin }: Programs): Promise<Cluster> {
  const account = unprivileged();
  const dir = mkdtempSync(join(tmpdir(), "berth-debian-pg-"));
  if (account) chownSync(dir, account.uid, account.gid);
  const run = (program: string, args: readonly string[]): string =>
    execFileSync(join(bin, program), args, {
      ...account,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 2 ** 28,
    });
  run("initdb", [
    "-D",
    dir,
    "-U",
    "postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "-N",
  ]);
  const port = await freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(bin, "postgres"), ["-D", dir, ...flags], {
    ...account,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await ready(server);
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    run,
    async stop() {
      const gone = once(server, "exit");
      if (server.exitCode === null) server.kill("SIGQUIT");
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function ready(server: ChildProcess): Promise<void> {
  let log = "";
  return new Promise((resolve, reject) => {
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("ready to accept connections")) resolve();
    });
    server.once("exit", () => reject(new Error(`PostgreSQL did not start: ${log}`)));
  });
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) =>
    Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
