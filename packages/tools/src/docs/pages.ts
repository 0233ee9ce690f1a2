/** Which pages have their blocks run. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../../../..");
export const DOCS = path.join(ROOT, "apps/docs");

export interface Page {
  /** From the root, or from `/` when it lies elsewhere. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Headings of the sections that count; absent: all. */
  readonly sections?: readonly string[];
}

/** Files with the sections of them that are run; none: all. What else is in the root's README other tests run. */
const DOCUMENTS: Readonly<Record<string, readonly string[] | undefined>> = {
  "README.md": ["Book from your own app"],
  "packages/client/README.md": undefined,
  "packages/client/skills/berth/SKILL.md": undefined,
};

const GUIDES = ["tutorial.md", "how-to/*.md", "import.md", "sign-in.md", "testing.md"];

export function allPages(): Page[] {
  const guides = GUIDES.flatMap((pattern) => globSync(pattern, { cwd: DOCS }).sort());
  return [
    ...guides.map((file) => readPage(path.join(DOCS, file))),
    ...Object.keys(DOCUMENTS).map((file) => readPage(path.join(ROOT, file))),
  ];
}

export function readPage(file: string): Page {
  const full = path.resolve(file);
  const inside = path.relative(ROOT, full).split(path.sep).join("/");
  const name = inside.startsWith("..") ? full : inside;
  const text = readFileSync(full, "utf8");
  const sections = DOCUMENTS[name];
  return { name, path: full, text, ...(sections ? { sections } : {}) };
}
