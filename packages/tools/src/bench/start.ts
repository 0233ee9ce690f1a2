/**
 * How long things take to begin. `berth` beyond what Node alone takes: started again for every question, by people who
 * wait; each command as a process of its own, in turn, so that what else the machine does meets all alike. A server on a
 * PostgreSQL that runs already. The demo, from nothing to its first booking.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { quantile } from "./figure.ts";
import type { Figure } from "./figure.ts";
import { startSystem } from "./servers.ts";

const BIN = path.resolve(import.meta.dirname, "../../../../apps/cli/bin/berth.js");
const DEMO = path.resolve(import.meta.dirname, "../../../../apps/server/src/demo/main.ts");
/** Of the median, beyond Node. */
const MUST_MS = 150;
/** Of a server, beyond PostgreSQL's own; of the demo on a warm cache. */
const SERVER_MUST_MS = 1_500;
const DEMO_MUST_S = 20;
/** Nobody has signed in, and nothing is found that somebody keeps. */
const ENV = { PATH: process.env["PATH"], HOME: "/nonexistent", XDG_CONFIG_HOME: "/nonexistent" };

interface Start {
  readonly args: readonly string[];
  readonly status: number;
}
const NODE: Start = { args: ["-e", "0"], status: 0 };
const STARTS: Readonly<Record<string, Start>> = {
  version: { args: [BIN, "--version"], status: 0 },
  help: { args: [BIN, "--help"], status: 0 },
  "help-of-ls": { args: [BIN, "ls", "--help"], status: 0 },
  "help-of-keys": { args: [BIN, "keys", "--help"], status: 0 },
  // With the client, up to where a server would be asked.
  "ls-signed-out": { args: [BIN, "ls"], status: 2 },
};

export async function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  return [...commands(quick ? 5 : 15), await serverStart(quick ? 2 : 5), await demoStart()];
}

/** From the process to the answer that it is ready, on a database that is up and migrated. */
async function serverStart(rounds: number): Promise<Figure> {
  const system = await startSystem();
  try {
    await system.addServer();
    const took: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const since = performance.now();
      await system.addServer();
      took.push(performance.now() - since);
    }
    const value = quantile(took, 0.5);
    return { id: "server/ready.p50", value, unit: "ms", direction: "lower", must: SERVER_MUST_MS };
  } finally {
    await system.stop();
  }
}

/** @throws when the demo ends without a booking */
async function demoStart(): Promise<Figure> {
  const since = performance.now();
  const demo = spawn(process.execPath, [DEMO, "--once"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PORT: "0" },
  });
  const ended = once(demo, "exit");
  let booked: number | null = null;
  for await (const line of createInterface(demo.stdout))
    if (booked === null && /^ {2}rsv_/.test(line)) booked = performance.now() - since;
  const [status] = (await ended) as [number | null];
  if (booked === null || status !== 0) throw new Error(`the demo ended with ${status}`);
  const value = booked / 1_000;
  return { id: "demo/first-booking", value, unit: "s", direction: "lower", must: DEMO_MUST_S };
}

function commands(rounds: number): Figure[] {
  const names = Object.keys(STARTS);
  const times = new Map<string, number[]>(["node", ...names].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, taken] of times) {
      const ms = timed(STARTS[name] ?? NODE);
      // The first one of an installation fills the cache of what is compiled.
      if (round > 0) taken.push(ms);
    }
  const median = (name: string) => quantile(times.get(name) ?? [], 0.5);
  const node = { id: "node", value: median("node"), unit: "ms" };
  const beyond = names.map((name): Figure => {
    const value = median(name) - node.value;
    const id = `start/${name}.beyond-node.p50`;
    return { id, value, unit: "ms", direction: "lower", must: MUST_MS, yardstick: node };
  });
  return beyond;
}

function timed({ args, status }: Start): number {
  const since = performance.now();
  const ended = spawnSync(process.execPath, args, { env: ENV, encoding: "utf8" });
  const ms = performance.now() - since;
  if (ended.status !== status)
    throw new Error(`${args.join(" ")} ended with ${ended.status}: ${ended.stderr}`);
  return ms;
}
