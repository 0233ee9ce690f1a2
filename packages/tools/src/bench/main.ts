/**
 * `pnpm bench <name> [--quick] [--runs N] [--slots N,N] [--json FILE]`: runs a bench, prints its figures as a table,
 * writes them as JSON, and exits 1 when a must is missed, 2 when it was called wrongly. Times are compared inside one
 * run only: machines are shared, so each figure is the median of its runs with the spread beside it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { missesMust, summarize } from "./figure.ts";
import type { Figure, Run } from "./figure.ts";
import { type Report, print } from "./table.ts";

/** Each is the file of that name, which exports `run`; what it measures, and how long that takes on two cores. */
const BENCHES = {
  placement:
    "how well requests are packed, beside published policies (needs the traces: it says where)",
  placer: "how fast the placer answers on 27 pools of up to 80,000 GPUs, in memory; 11 min",
  scale: "the engine without a database, up to 8,000,000 units",
  booking: "creates and releases over HTTP, beside pgbench and a booking written by hand; 25 min",
  reads: "capacity, lists, previews under load, and a POST beside plain Fastify; 7 min",
  memory: "a server with 10,000 nodes and 100,000 bookings, and ten minutes of booking; 45 min",
  load: "a mixed load by the clock, one hot pool, and three times too much; 8 min",
  start: "commands, a server and the demo from nothing; 1 min",
  console: "the web console in a real Chromium: weight, first paint, scrolling; 2 min",
} as const;

const USAGE = `usage: pnpm bench <name> [--quick] [--runs N] [--slots N,N] [--json FILE]

  --quick   one short run of a smaller system, to see that it works: the musts are for a whole run on a calm machine
  --runs    how often, 3 unless it is quick; a figure is the median, with the least and the greatest beside it
  --slots   placement alone: cards cut into so many slots
  --json    the figures to a file, with commit and machine

${Object.entries(BENCHES)
  .map(([name, what]) => `  ${name.padEnd(10)}${what}`)
  .join("\n")}`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = readArgs(args);
  if (typeof asked === "string") {
    console.error(`${asked}\n\n${USAGE}`);
    return 2;
  }
  if (asked === null) {
    console.log(USAGE);
    return 0;
  }
  const { bench, quick, runs, slots, json } = asked;
  const { run } = (await import(`./${bench}.ts`)) as { readonly run: Run };
  const about = { bench, commit: commit(), machine: machine(), runs };
  const measured: Figure[][] = [];
  for (let i = 0; i < runs; i += 1) measured.push(await run({ quick, slots }));
  const report: Report = { ...about, figures: summarize(measured) };
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  print(report, quick);
  return report.figures.some(missesMust) ? 1 : 0;
}

interface Asked {
  readonly bench: keyof typeof BENCHES;
  readonly quick: boolean;
  readonly runs: number;
  readonly slots: readonly number[];
  readonly json: string | undefined;
}

/** Null when help is wanted; a text when something is wrong. */
function readArgs(args: readonly string[]): Asked | string | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "string" },
        quick: { type: "boolean", default: false },
        runs: { type: "string" },
        slots: { type: "string", default: "" },
      },
    });
    if (values.help) return null;
    const { quick, json } = values;
    const runs = Number(values.runs ?? (quick ? 1 : 3));
    const slots = values.slots.split(",").filter(Boolean).map(Number);
    const [bench = "", more] = positionals;
    if (!isBench(bench)) return bench === "" ? "which one?" : `there is no bench ${bench}`;
    if (more !== undefined) return `one bench at a time: what is ${more}?`;
    if (!isCount(runs)) return `--runs wants a whole number from 1 on, not ${String(values.runs)}`;
    if (!slots.every(isCount)) return `--slots wants whole numbers, as in 2,4, not ${values.slots}`;
    return { bench, quick, runs, slots, json };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1;
}

function isBench(name: string): name is keyof typeof BENCHES {
  return Object.hasOwn(BENCHES, name);
}

function commit(): string {
  try {
    const git = (...words: string[]): string =>
      execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    const changed = git("status", "--porcelain") === "" ? "" : "+changes";
    return `${git("rev-parse", "--short=12", "HEAD")}${changed}`;
  } catch {
    return "unknown";
  }
}

function machine(): string {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const where = existsSync("/.dockerenv") ? ", container" : "";
  const system = `${process.platform} ${release()} ${process.arch}${where}`;
  const model = cores[0]?.model.trim() ?? "cpu";
  // Others on the machine are in every figure.
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)} before`;
  return `${cores.length} × ${model}, ${memory}, ${system}, node ${process.version}, ${load}`;
}
