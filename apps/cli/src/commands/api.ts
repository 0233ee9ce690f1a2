/** `berth api <group.method>`: any method, also of a server that is newer than this command line. */
import { readFile } from "node:fs/promises";
import { usage } from "../exit.ts";
import type { Io } from "../io.ts";
import { type OutputOptions, formatOf, print } from "../output/print.ts";
import { openSession } from "../session.ts";
import type { Call } from "../spec.ts";

export interface ApiOptions extends OutputOptions {
  readonly file?: string;
}

export async function api({ io, args, onServer }: Call, options: ApiOptions): Promise<void> {
  const [method = ""] = args;
  const output = { output: options.output ?? "json" };
  if (formatOf(output) === "table")
    throw usage("an answer of any method has no table: -o json, jsonl or yaml");
  const input = options.file === undefined ? {} : await inputOf(io, options.file);
  const { berth, url } = await openSession(io);
  onServer(url);
  let data: unknown;
  try {
    data = await berth.call(method, input);
  } catch (error) {
    if (error instanceof TypeError) throw usage(`${error.message}; streams are for berth watch`);
    throw error;
  }
  await print(io, output, { data, lines: () => [] });
}

async function inputOf(io: Io, file: string): Promise<object> {
  const text = file === "-" ? await readAll(io) : await readInput(file);
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (error) {
    throw usage(`-f ${file} is not JSON: ${(error as Error).message}`);
  }
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw usage(`-f ${file} is not an object: every method takes one`);
  return input;
}

async function readInput(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw usage(`-f ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function readAll({ stdin }: Io): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString("utf8");
}
