import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { generateAdrIndex } from "./gen-adr-index.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function index(pages: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), "berth-adr-"));
  folders.push(root);
  mkdirSync(path.join(root, "apps/docs/adr"), { recursive: true });
  const readme = "# Decisions\n\n<!-- index -->\n\nold\n\n<!-- /index -->\n\nafter\n";
  for (const [file, text] of Object.entries({ "README.md": readme, ...pages })) {
    writeFileSync(path.join(root, "apps/docs/adr", file), text);
  }
  return generateAdrIndex(root).text;
}

describe("the index of decisions", () => {
  it("has a line for each page, by number, and leaves the rest alone", () => {
    const text = index({ "0002-b.md": "# 0002 · Second\n", "0001-a.md": "# 0001 · First\n" });
    expect(text).toBe(
      "# Decisions\n\n<!-- index -->\n\n- [0001 · First](0001-a.md)\n- [0002 · Second](0002-b.md)\n\n<!-- /index -->\n\nafter\n",
    );
  });

  it("refuses a number taken twice", () => {
    expect(() => index({ "0001-a.md": "# 0001 · A\n", "0001-b.md": "# 0001 · B\n" })).toThrow(
      /0001 is taken twice/,
    );
  });

  it("refuses a title without the file's number", () => {
    expect(() => index({ "0003-c.md": "# Third\n" })).toThrow(/must start with "# 0003 · "/);
  });

  it("refuses a page without its markers", () => {
    expect(() => index({ "README.md": "# Decisions\n" })).toThrow(/lost its index markers/);
  });
});
