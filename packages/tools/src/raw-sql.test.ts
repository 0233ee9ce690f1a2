/** Statements are written, never put together from what comes in: where text becomes SQL is a list. */
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** By file: why a text of its own making may be a statement there. */
const ALLOWED: Readonly<Record<string, string>> = {
  "packages/db/src/slot-pool.ts": "the one place that sends statements; it is handed them whole",
  "packages/db/src/store/pool-store.ts": "statements of the file, prepared",
  "packages/db/src/store/is-due.ts": "a condition, a constant of another file",
  "packages/db/src/print-schema.ts": "a constant of the file",
  "packages/db/src/embedded/template.ts": "the name of the embedded database, a constant",
  "packages/api/src/groups/events/prune.ts":
    "one of two statements with a number of days of its own",
  "packages/api/src/groups/access/list-keys.ts": "a list of columns, a constant of another file",
  "apps/server/src/database.ts": "the name of the embedded database, a constant",
};

/** A statement that is no literal, or a literal with something put into it. */
const RAW = /\.(?:unsafe|raw|identifier)(?:<[^>]*>)?\(\s*(?!["']|`[^`$]*`)/;
const FILLED_IN = /\bslots\.\w+(?:<[^>]*>)?\(\s*`[^`]*\$\{/;

function sources(): string[] {
  return ["packages", "apps"].flatMap((room) =>
    readdirSync(path.join(ROOT, room), { recursive: true, encoding: "utf8" })
      .filter((file) => /^[^/]+\/src\/.*\.ts$/.test(file))
      .filter((file) => !/\.test\.ts$|\/testing\/|^tools\//.test(file))
      .map((file) => `${room}/${file}`),
  );
}

const offends = (text: string): boolean => RAW.test(text) || FILLED_IN.test(text);

it("no statement is made of a variable outside the files that say why", () => {
  const files = sources();
  expect(files.length).toBeGreaterThan(200);
  const found = files.filter((file) => offends(readFileSync(path.join(ROOT, file), "utf8")));
  expect(found.filter((file) => !(file in ALLOWED))).toEqual([]);
  expect(Object.keys(ALLOWED).filter((file) => !found.includes(file))).toEqual([]);
});

it.each([
  "sql.unsafe(text)",
  "sql.raw(name)",
  "sql.identifier(column)",
  "sql.unsafe<{ a: number }[]>(`select ${a}`)",
  "db.slots.run(`delete from pools where id = '${id}'`)",
])("%s is found", (planted) => {
  expect(offends(planted)).toBe(true);
});

it.each(["sql.unsafe(`select 1`)", 'sql.raw("now()")', "db.slots.run(`select $1`, [id])"])(
  "%s is not",
  (planted) => {
    expect(offends(planted)).toBe(false);
  },
);
