/** Writes a command's data to standard output in the form that was asked for. */
import { usage } from "../exit.ts";
import { type Io, bold, hasColor } from "../io.ts";
import { cleanJson } from "./clean.ts";
import { type Column, type Fit, table } from "./table.ts";

const FORMATS = ["table", "json", "jsonl", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** What every command that answers data can be told. */
export interface OutputOptions {
  readonly output?: string;
  readonly wide?: boolean;
  readonly columns?: string;
}

/** One answer, in all its forms. */
export interface Answer {
  /** As the API answers it. */
  readonly data: unknown;
  /** What `jsonl` writes a line of each; absent: the data in one line. */
  readonly entries?: readonly unknown[];
  /** Lines for people. */
  readonly lines: (tables: Tables) => readonly string[];
}

/** Makes tables as `--wide`, `--columns` and the terminal have it. */
export interface Tables {
  /** The table of a command's entries: the one that `--columns` speaks of. */
  main<T>(rows: readonly T[], columns: readonly Column<T>[]): string[];
  /** A table beside it. */
  more<T>(rows: readonly T[], columns: readonly Column<T>[]): string[];
}

/** @throws Quit for a form that there is none of */
export function formatOf({ output = "table" }: OutputOptions): Format {
  const format = FORMATS.find((name) => name === output);
  if (format === undefined) throw usage(`-o takes ${FORMATS.join(", ")}, not ${output}`);
  return format;
}

export async function print(io: Io, options: OutputOptions, answer: Answer): Promise<void> {
  const format = formatOf(options);
  const lines =
    format === "table"
      ? answer.lines(tablesFor(io, options, io.stdout))
      : await serialized(format, answer);
  for (const line of lines) io.stdout.write(`${line}\n`);
}

/** @param stream where the tables go */
export function tablesFor(io: Io, options: OutputOptions, stream: Io["stdout"]): Tables {
  const isColored = hasColor(io, stream);
  const fit: Fit = {
    width: stream.isTTY && !options.wide ? stream.columns || 80 : null,
    title: (text) => bold(text, isColored),
  };
  const shown = <T>(columns: readonly Column<T>[]) =>
    columns.filter(({ isWide }) => options.wide || !isWide);
  return {
    main: (rows, columns) =>
      table(
        rows,
        options.columns === undefined ? shown(columns) : named(columns, options.columns),
        fit,
      ),
    more: (rows, columns) => table(rows, shown(columns), fit),
  };
}

function named<T>(columns: readonly Column<T>[], names: string): Column<T>[] {
  return names.split(",").map((name) => {
    const found = columns.find((column) => column.name === name.trim().toLowerCase());
    if (found) return found;
    const all = columns.map((column) => column.name).join(", ");
    throw usage(`--columns: there is no column ${JSON.stringify(name)}; there are ${all}`);
  });
}

async function serialized(format: Exclude<Format, "table">, answer: Answer): Promise<string[]> {
  if (format === "json") return [cleanJson(JSON.stringify(answer.data, null, 2))];
  if (format === "jsonl")
    return (answer.entries ?? [answer.data]).map((entry) => cleanJson(JSON.stringify(entry)));
  return [await toYaml(answer.data)];
}

/** Text is quoted, so that no `no` or `1e3` of a name is read as something else. */
export async function toYaml(data: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  const plain = {
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    lineWidth: 0,
  } as const;
  return cleanJson(stringify(data, plain).trimEnd());
}
