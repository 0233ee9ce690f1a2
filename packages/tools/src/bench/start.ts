/**
 * How long `berth` takes to begin, beyond what Node alone takes: started again for every question, by people who
 * wait. Each command as a process of its own, in turn, so that what else the machine does meets all alike.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { quantile } from "./figure.ts";
import type { Figure } from "./figure.ts";

const BIN = path.resolve(import.meta.dirname, "../../../../apps/cli/bin/berth.js");
/** Of the median, beyond Node. */
const MUST_MS = 150;
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

export function run({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 5 : 15;
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
  return Promise.resolve(beyond);
}

function timed({ args, status }: Start): number {
  const since = performance.now();
  const ended = spawnSync(process.execPath, args, { env: ENV, encoding: "utf8" });
  const ms = performance.now() - since;
  if (ended.status !== status)
    throw new Error(`${args.join(" ")} ended with ${ended.status}: ${ended.stderr}`);
  return ms;
}
