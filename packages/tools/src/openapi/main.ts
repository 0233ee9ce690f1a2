/**
 * The OpenAPI document as strangers' tools see it: clean for their linters, and no break for callers of the
 * last release. `pnpm check openapi` runs it; an argument names another document.
 */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { type Document, breakingChanges } from "./breaking.ts";
import { lintOpenapi } from "./lint.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");
/** As it was released, a file a version. */
const RELEASED = "apps/docs/reference/released";
const DOCUMENT = process.argv[2] ?? "packages/contract/openapi.json";

/** Breaks that were decided: a finding as it is printed, and why. Emptied with each release. */
const DECIDED: Readonly<Record<string, string>> = {};

const read = (file: string) =>
  JSON.parse(readFileSync(path.resolve(ROOT, file), "utf8")) as Document;

function lastReleased(): string {
  const numbers = (file: string) => file.match(/\d+/g)?.map(Number) ?? [];
  const newest = readdirSync(path.join(ROOT, RELEASED))
    .filter((file) => /^openapi-\d+\.\d+\.\d+\.json$/.test(file))
    .toSorted((a, b) => {
      const [was, is] = [numbers(a), numbers(b)];
      return [0, 1, 2].map((at) => (was[at] ?? 0) - (is[at] ?? 0)).find((sign) => sign !== 0) ?? 0;
    })
    .at(-1);
  if (newest === undefined) throw new Error(`there is no released document in ${RELEASED}`);
  return `${RELEASED}/${newest}`;
}

const released = lastReleased();
const document = read(DOCUMENT);
const lint = await lintOpenapi(document);
for (const { rule, at, message } of lint)
  process.stdout.write(`${DOCUMENT}: ${rule}: ${at} ${message}\n`);
const lines = breakingChanges(read(released), document).map(({ at, what }) => `${at}: ${what}`);
const breaks = lines.filter((line) => DECIDED[line] === undefined);
for (const line of breaks)
  process.stdout.write(`${DOCUMENT} breaks callers of ${released}: ${line}\n`);
const idle = Object.keys(DECIDED).filter((line) => !lines.includes(line));
for (const line of idle) process.stdout.write(`decided and not done: ${line}\n`);
if (lint.length + breaks.length + idle.length > 0) process.exitCode = 1;
