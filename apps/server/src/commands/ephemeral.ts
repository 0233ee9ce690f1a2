/**
 * `berth serve --ephemeral`: a real server for the tests of a program that books. It takes any free port, keeps
 * its data in a temporary folder, says on standard output where it is, and leaves nothing behind.
 */
import { fileURLToPath } from "node:url";
import { readEphemeralConfig } from "../config.ts";
import { type Server, temporaryServer } from "../database.ts";
import type { ImportDocument } from "../import/document.ts";
import { EXIT, UsageError } from "./exit.ts";
import type { Output } from "./output.ts";

export interface EphemeralOptions {
  readonly withParent?: boolean;
  /** A file, or `demo`. */
  readonly fleet?: string;
}

/** The one line of standard output. */
interface Ready {
  readonly url: string;
  /** A fleet-admin's. */
  readonly token: string;
  readonly pid: number;
  /** Null when it is empty. */
  readonly fleet: Fleet | null;
}

interface Fleet {
  /** What each tenant presents, by its id. */
  readonly tenants: Readonly<Record<string, string>>;
  readonly pools: readonly {
    readonly poolId: string;
    readonly gpuModel: string;
    readonly gpus: number;
  }[];
}

const DEMO_FLEET = fileURLToPath(new URL("../../demo-fleet.json", import.meta.url));

/** @throws UsageError when one of the options is given that only go with --ephemeral */
export function refuseEphemeralOptions({ withParent, fleet }: EphemeralOptions): void {
  const given = withParent ? "--with-parent" : fleet === undefined ? null : "--fleet";
  if (given !== null) throw new UsageError(`${given} goes with --ephemeral, and only with it`);
}

export async function serveEphemeral(output: Output, options: EphemeralOptions): Promise<void> {
  const { config, unheeded } = readEphemeralConfig();
  if (unheeded.length > 0) output.say(`not heeded with --ephemeral: ${unheeded.join(", ")}`);
  const document = options.fleet === undefined ? null : await readFleet(options.fleet);
  // The database starts while the rest of the program is still being loaded.
  const server = temporaryServer();
  server.catch(() => undefined);
  const parent = options.withParent ? parentGone() : undefined;
  const isUp = stopEarly(server, parent);
  const { serve } = await import("../serve.ts");
  const { untilStopped } = await import("./serve.ts");
  const { createLog } = await import("../log.ts");
  const log = createLog(config.logLevel, { write: (line) => void process.stderr.write(line) });
  // What it calls to lay itself out is not what the program under test may call.
  let isLaidOut = false;
  const counting = () => isLaidOut;
  const running = await serve(config, { ephemeral: true, server, log, counting });
  isUp();
  // From here on it ends in order, before anybody is told that it is there.
  const ended = untilStopped(running, output, parent);
  const { url, adminKey: token } = running;
  try {
    if (token === null) throw new Error("a new database has a key already");
    const fleet = document === null ? null : await layOut({ url, token }, document);
    isLaidOut = true;
    const ready: Ready = { url, token, pid: process.pid, fleet };
    output.say(`Berth listens on ${url}`);
    output.data(JSON.stringify(ready));
  } catch (error) {
    await running.stop();
    throw error;
  }
  await ended;
}

/** While there is no server to stop, a signal ends the database and the process; until the function is called. */
function stopEarly(server: Promise<Server>, parent: Promise<void> | undefined): () => void {
  let isUp = false;
  const end = () => {
    if (isUp) return;
    void server
      .then((started) => started.stop())
      .catch(() => undefined)
      .finally(() => process.exit(EXIT.ok));
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  void parent?.then(end);
  return () => {
    isUp = true;
  };
}

/** Resolves when nobody holds the other end of standard input any more. */
function parentGone(): Promise<void> {
  const { stdin } = process;
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
    stdin.resume();
  });
}

async function readFleet(file: string): Promise<ImportDocument> {
  const { readInventory } = await import("../import/read.ts");
  return readInventory(file === "demo" ? DEMO_FLEET : file);
}

async function layOut(
  at: { readonly url: string; readonly token: string },
  document: ImportDocument,
): Promise<Fleet> {
  const { createBerth } = await import("@berth/client");
  const { makeTenants, openFleet } = await import("../demo/fleet.ts");
  const admin = createBerth(at);
  const tenants = await makeTenants(admin);
  const pools = await openFleet(admin, document);
  return {
    tenants,
    pools: pools.map(({ id, group: { gpuModel, gpus } }) => ({ poolId: id, gpuModel, gpus })),
  };
}
