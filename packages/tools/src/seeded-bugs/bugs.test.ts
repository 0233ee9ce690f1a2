import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BUGS } from "./bugs.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");

it.each(BUGS)("$name can still be planted: its text is in the sources, once", ({ file, edits }) => {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  // What follows the first edit may be made by it.
  const [first] = edits;
  expect(text.split(first?.find ?? "").length - 1).toBe(1);
});
