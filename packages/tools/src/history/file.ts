/** A recorded run as lines of JSON: kept when the checker found something, and checked again from there. */
import { createReadStream, createWriteStream } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { FinalTables, History, Stretch, Watching } from "./types.ts";

type Line =
  | { readonly kind: "watching"; readonly watching: readonly Watching[] }
  | { readonly kind: "stretch" }
  | { readonly kind: "operation" | "batch" | "feed" | "seen"; readonly value: unknown }
  | { readonly kind: "final"; readonly final: FinalTables | null };

const LISTS = { operation: "operations", batch: "batches", feed: "feed", seen: "seen" } as const;

export async function writeHistory(file: string, history: History): Promise<void> {
  const out = createWriteStream(file);
  const put = async (line: Line): Promise<void> => {
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
  };
  await put({ kind: "watching", watching: history.watching });
  for (const stretch of history.stretches) {
    await put({ kind: "stretch" });
    for (const kind of ["batch", "operation", "feed", "seen"] as const)
      for (const value of stretch[LISTS[kind]]) await put({ kind, value });
  }
  await put({ kind: "final", final: history.final });
  out.end();
  await once(out, "finish");
}

export async function readHistory(file: string): Promise<History> {
  const stretches: Stretch[] = [];
  let watching: readonly Watching[] = [];
  let final: FinalTables | null = null;
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = JSON.parse(text) as Line;
    if (line.kind === "watching") watching = line.watching;
    else if (line.kind === "final") final = line.final;
    else if (line.kind === "stretch")
      stretches.push({ batches: [], operations: [], feed: [], seen: [] });
    else (stretches.at(-1)?.[LISTS[line.kind]] as unknown[] | undefined)?.push(line.value);
  }
  return { watching, stretches, final };
}
