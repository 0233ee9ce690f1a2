/** `postmaster.pid`: who runs on a data folder, and whether that is still true. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { urlOf } from "./login.ts";

/** Another process of this machine runs a server on the data folder. Who may read that can connect to it. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
  readonly pid: number;
  readonly port: number;
  readonly #dir: string;
  constructor(dir: string, owner: { pid: number; port: number }) {
    super(
      `PostgreSQL (process ${owner.pid}, port ${owner.port}) already runs on ${dir}: stop the Berth that started it, or choose another data folder`,
    );
    this.pid = owner.pid;
    this.port = owner.port;
    this.#dir = dir;
  }

  /** Of a database of the server that runs: for a command beside it. */
  url(database: string): string {
    return urlOf(this.#dir, this.port, database);
  }
}

/** A server whose parent was just killed needs this long to go away. */
const LEAVING_MS = 10_000;
const READY_GRACE_MS = 1_500;
const POLL_MS = 25;

/**
 * Makes sure that nobody runs on the folder. Never kills: a live owner is refused, and a file whose process
 * is gone, or is no PostgreSQL of this folder (the number was given again), is removed.
 * @throws FolderInUse
 */
export async function claimFolder(dir: string): Promise<void> {
  const file = join(dir, "postmaster.pid");
  const started = Date.now();
  for (;;) {
    const owner = readOwner(file);
    if (!owner) return;
    if (!isServerOn(owner.pid, dir)) {
      rmSync(file, { force: true });
      return;
    }
    const waited = Date.now() - started;
    const patience = owner.status === "stopping" ? LEAVING_MS : READY_GRACE_MS;
    if (waited > patience) throw new FolderInUse(dir, owner);
    await delay(POLL_MS);
  }
}

interface Owner {
  readonly pid: number;
  readonly port: number;
  readonly status: string;
}

function readOwner(file: string): Owner | null {
  if (!existsSync(file)) return null;
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isInteger(pid) && pid > 0 ? { pid, port, status: (lines[7] ?? "").trim() } : null;
  } catch (error) {
    // It went away between the two looks.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Judged by the process's command line: it names the program and the folder. */
function isServerOn(pid: number, dir: string): boolean {
  const command = commandLine(pid);
  return command !== null && command.includes("postgres") && command.includes(dir);
}

function commandLine(pid: number): string | null {
  if (existsSync("/proc/self/cmdline")) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return null;
    }
  }
  if (process.platform === "win32") return windowsCommandLine(pid);
  const ps = spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  return ps.status === 0 ? ps.stdout : null;
}

function windowsCommandLine(pid: number): string | null {
  const query = `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`;
  const shell = spawnSync("powershell", ["-NoProfile", "-Command", query], { encoding: "utf8" });
  return shell.status === 0 && shell.stdout.trim() !== "" ? shell.stdout : null;
}
