/**
 * `pnpm bench <name> [--quick] [--runs N] [--slots N,N] [--json FILE]`: runs a bench, prints its figures as a table,
 * writes them as JSON, and exits 1 when a must is missed. Times are compared inside one run only:
 * machines are shared, so each figure is the median of its runs with the spread beside it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { missesMust, summarize } from "./figure.ts";
import type { Figure, Run, Summary } from "./figure.ts";

/** Each is the file of that name, which exports `run`. */
const BENCHES = [
  "placement",
  "placer",
  "scale",
  "booking",
  "reads",
  "memory",
  "load",
  "start",
  "console",
] as const;

interface Report {
  readonly bench: string;
  readonly commit: string;
  readonly machine: string;
  readonly runs: number;
  readonly figures: readonly Summary[];
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "string" },
      quick: { type: "boolean" },
      runs: { type: "string" },
      slots: { type: "string" },
    },
  });
  const [bench = ""] = positionals;
  const quick = values.quick ?? false;
  const runs = Number(values.runs ?? (quick ? 1 : 3));
  const slots = values.slots?.split(",").map(Number) ?? [];
  const run = await loadBench(bench);
  if (!run || ![runs, ...slots].every((count) => Number.isInteger(count) && count >= 1)) {
    console.error("usage: pnpm bench <name> [--quick] [--runs N] [--slots N,N] [--json FILE]");
    console.error(`benches: ${BENCHES.join(", ")}`);
    return 2;
  }
  const measured: Figure[][] = [];
  for (let i = 0; i < runs; i += 1) measured.push(await run({ quick, slots }));
  const figures = summarize(measured);
  const report = { bench, commit: commit(), machine: machine(), runs, figures };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  print(report);
  return figures.some(missesMust) ? 1 : 0;
}

async function loadBench(name: string): Promise<Run | null> {
  if (!BENCHES.some((bench) => bench === name)) return null;
  const module = (await import(`./${name}.ts`)) as { readonly run: Run };
  return module.run;
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
  return `${cores.length} × ${cores[0]?.model.trim() ?? "cpu"}, ${memory}, ${system}, node ${process.version}`;
}

function print(report: Report): void {
  console.log(`${report.bench} at ${report.commit}, ${report.runs} run(s)\n${report.machine}\n`);
  const rows = report.figures.map((figure) => [
    figure.id,
    `${show(figure.value)} ${figure.unit}`,
    figure.spread[0] === figure.spread[1] ? "" : figure.spread.map(show).join(" … "),
    figure.must === undefined ? "" : `must ${bound(figure)} ${show(figure.must)}`,
    figure.aim === undefined ? "" : `aim ${bound(figure)} ${show(figure.aim)}`,
    figure.yardstick ? `${figure.yardstick.id} ${show(figure.yardstick.value)}` : "",
    figure.ratio === undefined ? "" : `× ${show(figure.ratio)}`,
    missesMust(figure) ? "MISSED" : "",
  ]);
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

function bound(figure: Figure): string {
  return figure.direction === "lower" ? "≤" : "≥";
}

function show(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
