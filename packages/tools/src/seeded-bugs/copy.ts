/** A copy of the tree to break. Workspace packages find each other inside it: their links are relative. */
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import type { SeededBug } from "./bugs.ts";

/** Of the root's: what a test run reads. */
const ROOT_FILES = /^(package\.json|pnpm-workspace\.yaml|tsconfig.*\.json|vitest\.workspace\.ts)$/;

export interface Copy extends Disposable {
  readonly root: string;
}

export function copyTree(root: string): Copy {
  const copy = mkdtempSync(path.join(os.tmpdir(), "berth-seeded-"));
  for (const folder of ["packages", "apps"])
    cpSync(path.join(root, folder), path.join(copy, folder), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !/\/(dist|coverage)$/.test(source),
    });
  for (const name of readdirSync(root).filter((file) => ROOT_FILES.test(file)))
    cpSync(path.join(root, name), path.join(copy, name));
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  const domain = realpathSync(path.join(copy, "packages/engine/node_modules/@berth/domain"));
  if (domain !== realpathSync(path.join(copy, "packages/domain")))
    throw new Error(`the copy would test the original: its engine takes the domain from ${domain}`);
  return { root: copy, [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }) };
}

/** @throws when a text is not there exactly once: the sources moved on, and the bug has to follow */
export function plant(copy: Copy, { name, file, edits }: SeededBug): void {
  const target = path.join(copy.root, file);
  let text = readFileSync(target, "utf8");
  for (const { find, replace } of edits) {
    const times = text.split(find).length - 1;
    if (times !== 1)
      throw new Error(`"${name}" cannot be planted: ${file} has its text ${times} times: ${find}`);
    text = text.replace(find, () => replace);
  }
  writeFileSync(target, text);
}
