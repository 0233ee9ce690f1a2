/** Sources for the readers: our own captures beside this file, whole or with something changed. */
import { readFileSync } from "node:fs";
import type { ImportDocument, NodeInput, Source } from "../../src/import/document.ts";
import { type ReadOptions, readSources } from "../../src/import/read.ts";

export function fixture(file: string): Source {
  return { file, text: readFileSync(new URL(`fixtures/${file}`, import.meta.url), "utf8") };
}

/** The capture with one text in place of another, which must be there. */
export function changed(file: string, from: string, to: string): Source {
  const { text } = fixture(file);
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  return { file, text: text.replace(from, () => to) };
}

/** Reads sources, or captures by their names. */
export function read(files: readonly (string | Source)[], options?: ReadOptions): ImportDocument {
  const sources = files.map((file) => (typeof file === "string" ? fixture(file) : file));
  return readSources(sources, options);
}

export function nodeNamed({ nodes }: ImportDocument, name: string): NodeInput {
  const found = nodes.find((node) => node.name === name);
  if (!found) throw new Error(`no node ${name}`);
  return found;
}

export const gpuCount = ({ nodes }: ImportDocument): number =>
  nodes.reduce((sum, { gpus }) => sum + (gpus?.length ?? 0), 0);
