/** Reads an inventory file in whichever of the known formats it is. */
import { readFile } from "node:fs/promises";
import { type ImportDocument, ImportError } from "./document.ts";
import { parseJson } from "./json.ts";
import { isOpenb, parseOpenb } from "./openb.ts";

/** @throws ImportError names what is wrong, and in which record and field */
export async function readInventory(file: string): Promise<ImportDocument> {
  const text = await readText(file);
  return isOpenb(text) ? parseOpenb(text) : parseJson(text);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ImportError(`cannot read ${file}: ${error instanceof Error ? error.message : "?"}`);
  }
}
