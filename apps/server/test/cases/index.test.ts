/** The table of cases names tests that exist. */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
const ELSEWHERE = /^(?:next release|held by|the client's)/;

/** The cells of every row: case, part, file, test. */
function rows(): string[][] {
  return read("README.md")
    .split("\n")
    .filter((line) => /^\| S\d+ /.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The names of a file's tests as they are written; `it.each` has placeholders in them. */
function namesIn(source: string): string[] {
  return [
    ...source.matchAll(/(?:\bit\(|\]\)\(|\bit\.each\([\w.()]+\)\()\s*"((?:[^"\\]|\\.)+)"/g),
  ].map(([, name = ""]) => name);
}

it("names every test that it points to, and every file is pointed to", () => {
  const missing: string[] = [];
  const pointedTo = new Set<string>();
  for (const [id, part, file = "", test = ""] of rows()) {
    if (ELSEWHERE.test(file)) continue;
    pointedTo.add(`${file}.test.ts`);
    const names = namesIn(read(`${file}.test.ts`));
    const start = test.replace(/…$/, "");
    const found = names.some((name) =>
      test.endsWith("…") ? name.startsWith(start) : name === test,
    );
    if (!found) missing.push(`${id} (${part}): no test "${test}" in ${file}.test.ts`);
  }
  expect(missing).toEqual([]);
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) =>
    name.endsWith(".test.ts"),
  );
  expect(files.filter((name) => name !== "index.test.ts").toSorted()).toEqual(
    [...pointedTo].toSorted(),
  );
});

it("has a row for every case", () => {
  const cases = new Set(rows().map(([id]) => id));
  expect([...cases]).toEqual(Array.from({ length: 27 }, (_, i) => `S${i + 1}`));
});
