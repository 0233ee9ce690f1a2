/** The index of decision records: a line a page, between the markers in `apps/docs/adr/README.md`. */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import type { Generated } from "./generate.ts";

const FOLDER = "apps/docs/adr";
const INDEX = /(<!-- index -->\n)[^]*?(<!-- \/index -->)/;

/**
 * The page with its index renewed.
 * @throws when two pages share a number, or a title is not `# NNNN · …` with the file's number
 */
export function generateAdrIndex(
  root: string = path.resolve(import.meta.dirname, "../../.."),
): Generated {
  const folder = path.join(root, FOLDER);
  const pages = readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.md$/.test(file))
    .sort();
  const numbers = pages.map((file) => file.slice(0, 4));
  const twice = numbers.filter((number, i) => numbers.indexOf(number) !== i);
  if (twice.length > 0) throw new Error(`${FOLDER}: number ${twice.join(", ")} is taken twice`);
  const lines = pages.map((file) => `- [${titleOf(path.join(folder, file))}](${file})`);
  const text = readFileSync(path.join(folder, "README.md"), "utf8");
  if (!INDEX.test(text)) throw new Error(`${FOLDER}/README.md has lost its index markers`);
  return {
    path: `${FOLDER}/README.md`,
    text: text.replace(
      INDEX,
      (_all, open: string, close: string) => `${open}\n${lines.join("\n")}\n\n${close}`,
    ),
  };
}

function titleOf(file: string): string {
  const [first = ""] = readFileSync(file, "utf8").split("\n");
  const number = path.basename(file).slice(0, 4);
  if (!first.startsWith(`# ${number} · `)) {
    throw new Error(`${FOLDER}/${path.basename(file)}: the title must start with "# ${number} · "`);
  }
  return first.slice(2);
}
