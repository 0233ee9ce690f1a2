/** The table of what an attacker tries names tests that exist, and leaves nothing out. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";

const HERE = new URL(".", import.meta.url);
const ROOT = new URL("../../../../", import.meta.url);

interface Row {
  readonly id: string;
  readonly guarantee: string;
  readonly files: readonly string[];
  /** One test, or several with semicolons between them; a name that ends in … is a beginning. */
  readonly test: string;
  /** Why there is none. */
  readonly notHere: string | null;
}

const ROWS = readFileSync(new URL("README.md", HERE), "utf8")
  .split("\n")
  .filter((line) => /^\| S\d+ /.test(line))
  .map(rowOf);

function rowOf(line: string): Row {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const [, id = "", guarantee = "", file = "", test = ""] = cells;
  const notHere = /^not here: (.+)$/.exec(file)?.[1] ?? null;
  return { id, guarantee, files: notHere ? [] : file.split("; "), test, notHere };
}

/** A file beside the table, or from the root of the repository on when it names folders from there. */
function pathOf(file: string): URL {
  const name = file.endsWith(".test.ts") ? file : `${file}.test.ts`;
  return new URL(name, /^(?:apps|packages)\//.test(name) ? ROOT : HERE);
}

/** The names of a file's tests and of what holds them, as they are written; placeholders stay in them. */
function namesIn(file: string): string[] {
  const source = readFileSync(pathOf(file), "utf8");
  return [...source.matchAll(/\(\s*(["'`])((?:\\.|(?!\1)[^\\])+)\1/g)].map(([, , name = ""]) =>
    name.replaceAll(/\\(.)/g, "$1"),
  );
}

it("has a row for every one of S1 to S64, in order, each with what it guarantees", () => {
  const ids = ROWS.map(({ id }) => Number(id.slice(1)));
  expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  expect([...new Set(ids)]).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
  expect(ROWS.filter(({ guarantee }) => guarantee.length < 5)).toEqual([]);
});

it("names a test that exists in every row, or says why there is none", () => {
  const missing: string[] = [];
  for (const { id, files, test, notHere } of ROWS) {
    if (notHere !== null) continue;
    if (files.some((file) => file === "" || file.startsWith("PENDING"))) {
      missing.push(`${id}: ${files.join() || "no file"}`);
      continue;
    }
    const gone = files.filter((file) => !existsSync(pathOf(file)));
    for (const file of gone) missing.push(`${id}: there is no ${file}`);
    const names = files.filter((file) => !gone.includes(file)).flatMap(namesIn);
    const is = (wanted: string) => (name: string) =>
      wanted.endsWith("…") ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
    // A name may hold semicolons itself.
    const wanted = names.some(is(test)) ? [test] : test.split("; ");
    for (const one of wanted.filter((each) => each === "" || !names.some(is(each))))
      missing.push(`${id}: no test "${one}" in ${files.join(", ")}`);
  }
  expect(missing).toEqual([]);
});

it("points to every file of tests beside it", () => {
  const pointedTo = new Set(ROWS.flatMap(({ files }) => files.map((file) => pathOf(file).href)));
  const files = readdirSync(HERE, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts") && name !== "index.test.ts")
    .filter((name) => !pointedTo.has(new URL(name, HERE).href));
  expect(files).toEqual([]);
});
