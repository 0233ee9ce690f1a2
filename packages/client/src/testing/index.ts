/**
 * `@berth/client/testing`: a real server for the tests of a program that books. It fakes nothing: `berth serve
 * --ephemeral` is started as a process of its own, with an empty database that goes with it. For Node alone.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { findBerth } from "./find-berth.ts";
import type { Found } from "./find-berth.ts";

/** How to start the server. */
export interface WithBerthOptions {
  /**
   * The program and its first arguments, such as `["node", "berth/apps/cli/bin/berth.js"]`; a text is split at its
   * spaces. Absent: the environment's `BERTH_COMMAND`, else `berth` of the nearest `node_modules/.bin`, else `berth`
   * on the PATH.
   */
  readonly command?: string | readonly string[] | undefined;
  /** An inventory to begin with: a file that `berth import` reads, or `demo`. Absent: there is nothing yet. */
  readonly fleet?: string | undefined;
  /** Environment variables of the server, beside those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** It has to be ready within this long, milliseconds; default 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** A server that runs. */
export interface TestBerth extends AsyncDisposable {
  /** Where it is: `http://127.0.0.1:` and a free port. */
  readonly url: string;
  /** The key of its operator. */
  readonly token: string;
  /** What the inventory became; null without one. */
  readonly fleet: TestFleet | null;
  /** Stops it and drops its database. Called again it does nothing more. */
  stop(): Promise<void>;
}

/** Tenants and pools to book with. */
export interface TestFleet {
  /** A token of each tenant, by its id. */
  readonly tenants: Readonly<Record<string, string>>;
  /** The pools, which all of them see. */
  readonly pools: readonly TestPool[];
}

/** A pool of an inventory. */
export interface TestPool {
  /** Its id. */
  readonly poolId: string;
  /** The model of its GPUs. */
  readonly gpuModel: string;
  /** How many it has. */
  readonly gpus: number;
}

const START_MS = 60_000;
/** A server that is told to stop has this long. */
const STOP_MS = 15_000;
/** Of what it wrote, the last so many characters are shown when it does not start. */
const TAIL = 4_000;

/** What the server says when it is ready. */
interface Ready {
  readonly url: string;
  readonly token: string;
  readonly fleet: TestFleet | null;
}

/**
 * Starts an empty server on a free port; it ends with this process.
 *
 * @throws Error that says what to do when no `berth` is found, or when it does not start
 * @example
 * await using server = await withBerth();
 * const berth = createBerth(server);
 */
export async function withBerth(options: WithBerthOptions = {}): Promise<TestBerth> {
  const found = await findBerth(options.command);
  const child = start(found, options);
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await ended.finally(() => clearTimeout(timer));
  };
  try {
    const { url, token, fleet } = await ready(child, found, options.timeoutMs ?? START_MS);
    letGo(child);
    return { url, token, fleet, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start({ file, args, isShell }: Found, { env, fleet }: WithBerthOptions): ChildProcess {
  const own = ["serve", "--ephemeral", "--with-parent", ...(fleet ? ["--fleet", fleet] : [])];
  // Its standard input is ours: it ends when this process does, however that ends.
  return spawn(file, [...args, ...own], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    shell: isShell,
  });
}

/** A server that nobody stopped keeps no process up. What it writes from here on is read and dropped. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr] as readonly unknown[])
    (stream as Socket | null)?.unref();
  for (const stream of [child.stdout, child.stderr]) stream?.removeAllListeners("data").resume();
}

/** The one line that the server prints when it is ready. */
function ready(child: ChildProcess, found: Found, timeoutMs: number): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let [out, err] = ["", ""];
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(
        new Error(
          `${found.shown} serve --ephemeral ${what}\n${`${out}${err}`.slice(-TAIL)}`.trim(),
        ),
      );
    };
    const timer = setTimeout(() => fail(`was not ready after ${timeoutMs} ms`), timeoutMs);
    child.on("error", (error) => fail(`could not be started: ${error.message}`));
    child.on("close", (code, signal) => fail(`ended at once (${signal ?? `exit ${code}`})`));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      err = (err + text).slice(-TAIL);
    });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      if (out.length < 1_000_000) out += text;
      const told = readyIn(out);
      if (!told) return;
      clearTimeout(timer);
      resolve(told);
    });
  });
}

function readyIn(out: string): Ready | undefined {
  for (const line of out.split("\n").slice(0, -1)) {
    if (!line.startsWith("{")) continue;
    const { url, token, fleet = null } = parsed(line);
    if (typeof url === "string" && typeof token === "string") return { url, token, fleet };
  }
  return undefined;
}

function parsed(line: string): Partial<Ready> {
  try {
    return JSON.parse(line) as Partial<Ready>;
  } catch {
    return {};
  }
}
