/** Tables, and text from strangers in them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean, cleanJson } from "../src/output/clean.ts";
import { type Column, table, widthOf } from "../src/output/table.ts";
import { quoted } from "../src/shell.ts";
import { OBEYED } from "./kit.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly id: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { name: "name", of: ({ name }) => name },
  { name: "count", align: "right", of: ({ count }) => count },
  { name: "id", of: ({ id }) => id },
];
const plain = { width: null, title: (text: string) => text };
const ROWS: readonly Row[] = [
  { name: "h100", count: 8, id: "pool_0123456789abcdefghijklmnop" },
  { name: "an hall of A100", count: 128, id: "pool_0123456789abcdefghijklmnoq" },
];

describe("a table", () => {
  it("has no borders, and columns below each other", () => {
    expect(table(ROWS, COLUMNS, plain)).toEqual([
      "NAME             COUNT  ID",
      "h100                 8  pool_0123456789abcdefghijklmnop",
      "an hall of A100    128  pool_0123456789abcdefghijklmnoq",
    ]);
  });

  it("is as wide as the terminal at most, and cuts ids first", () => {
    const lines = table(ROWS, COLUMNS, { ...plain, width: 40 });
    expect(lines[2]).toBe("an hall of A100    128  pool_0123456789…");
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40);
  });

  it("counts wide characters as the two columns that they take", () => {
    const rows = [
      { name: "计算池", count: 1, id: "a" },
      { name: "é👩‍🔬", count: 22, id: "b" },
    ];
    expect(table(rows, COLUMNS, plain)).toEqual([
      "NAME    COUNT  ID",
      "计算池      1  a",
      "é👩‍🔬        22  b",
    ]);
  });
});

describe("text from a stranger", () => {
  it.each([
    ["\u001B[31mred\u001B[0m", "red"],
    ["a\u001B]0;title\u0007b", "ab"],
    ["one\r\ntwo\tthree", "one two three"],
    ["\u009B31mC1", "C1"],
    ["bell\u0007", "bell\uFFFD"],
    ["\u202Eright", "\uFFFDright"],
  ])("%j is shown as %j", (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  it("never holds what a terminal obeys, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(clean(text)).not.toMatch(OBEYED);
        expect(clean(text)).not.toContain("\n");
      }),
    );
  });

  it("as JSON is the same value, and holds nothing that a terminal obeys", () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: "binary" }), (json, text) => {
        const value: unknown = { json: JSON.parse(json), text };
        const written = cleanJson(JSON.stringify(value, null, 2));
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(written).not.toMatch(OBEYED);
      }),
    );
  });
});

describe("a command line to copy", () => {
  it("is what a shell reads back", () => {
    expect(quoted(["berth", "book", "16", "--start", "mon 09:00"])).toBe(
      "berth book 16 --start 'mon 09:00'",
    );
    expect(quoted(["it's", "$HOME", ""])).toBe(String.raw`'it'\''s' '$HOME' ''`);
  });
});
