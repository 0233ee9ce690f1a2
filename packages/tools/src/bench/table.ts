/** A bench's figures for a person: a table, and below it which musts were missed. */
import { type Figure, type Summary, missesMust } from "./figure.ts";

export interface Report {
  readonly bench: string;
  /** With `+changes` when the checkout had some. */
  readonly commit: string;
  readonly machine: string;
  readonly runs: number;
  readonly figures: readonly Summary[];
}

const HEAD = ["figure", "median", "least … greatest", "must", "aim", "beside it", "ratio", ""];

export function print({ bench, commit, machine, runs, figures }: Report, quick: boolean): void {
  console.log(`${bench} at ${commit}, ${runs} ${runs === 1 ? "run" : "runs"}\n${machine}`);
  if (quick) console.log("quick: a smaller system, too short to be judged by; the musts are shown");
  console.log("");
  const table = [HEAD, ...figures.map(rowOf)];
  const widths = HEAD.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  for (const row of table)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  const musts = figures.filter(({ must }) => must !== undefined).length;
  const missed = figures.filter(missesMust).map(({ id }) => id);
  console.log(`\n${musts - missed.length} of ${musts} musts held`);
  for (const id of missed) console.log(`missed: ${id}`);
}

function rowOf(figure: Summary): string[] {
  const { id, value, unit, spread, must, aim, yardstick, ratio } = figure;
  return [
    id,
    `${show(value)} ${unit}`,
    spread[0] === spread[1] ? "" : spread.map(show).join(" … "),
    must === undefined ? "" : `${bound(figure)} ${show(must)}`,
    aim === undefined ? "" : `${bound(figure)} ${show(aim)}`,
    yardstick ? `${yardstick.id} ${show(yardstick.value)} ${yardstick.unit}` : "",
    ratio === undefined ? "" : `× ${show(ratio)}`,
    missesMust(figure) ? "MISSED" : "",
  ];
}

const bound = ({ direction }: Figure): string => (direction === "lower" ? "≤" : "≥");

function show(value: number): string {
  if (Number.isNaN(value)) return "not measured";
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
