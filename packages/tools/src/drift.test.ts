import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { firstDifference, missingMigrations } from "./drift.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const MIGRATIONS = path.join(ROOT, "packages/db/migrations");

// Beside the real schema, so that the planted one finds the same drizzle-orm.
const folder = mkdtempSync(path.join(ROOT, "packages/db/.drift-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("drift of migrations", () => {
  it("is none for the committed schema", () => {
    expect(
      missingMigrations(path.join(ROOT, "packages/db/src/schema/index.ts"), MIGRATIONS),
    ).toEqual([]);
  });

  it("names the migration that a new table needs", () => {
    const schema = path.join(folder, "schema.ts");
    writeFileSync(
      schema,
      `import { bigint, pgTable } from "drizzle-orm/pg-core";
       export * from "../src/schema/index.ts";
       export const planted = pgTable("planted", { id: bigint("id", { mode: "number" }).primaryKey() });`,
    );
    const [missing, ...more] = missingMigrations(schema, MIGRATIONS);
    expect(more).toEqual([]);
    expect(missing?.sql).toMatch(/create table "planted"/i);
  });

  it("sees a table that lost its export, which would be dropped", () => {
    const empty = path.join(folder, "empty");
    mkdirSync(empty);
    const schema = path.join(empty, "schema.ts");
    writeFileSync(schema, `export { meta } from "../../src/schema/index.ts";`);
    expect(missingMigrations(schema, MIGRATIONS)[0]?.sql).toMatch(/drop table "pools"/i);
  });
});

describe("drift of schema.sql", () => {
  it("is none between equal texts", () => {
    expect(firstDifference("a\nb\n", "a\nb\n")).toBeUndefined();
  });

  it("is reported at the first line that differs", () => {
    expect(firstDifference("a\nb\n", "a\nc\n")).toEqual({ line: 2, committed: "b", real: "c" });
  });

  it("is reported when one text ends early", () => {
    expect(firstDifference("a\n", "a\nb\n")).toMatchObject({ line: 2, committed: "", real: "b" });
    expect(firstDifference("a\nb", "a")).toMatchObject({ line: 2, real: "(nothing)" });
  });
});
