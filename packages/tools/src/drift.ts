/**
 * Drift of the database's committed text. `drizzle-kit check` stays green while the schema drifts, so the
 * migration is generated into a copy and must not appear; `schema.sql` must be what a migrated empty
 * database really has. `--write` renews `schema.sql`; `drizzle-kit generate` writes a missing migration.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { migrate, printSchema, startPostgres } from "@berth/db";
import { type Finding, printFindings } from "./report.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const MIGRATIONS = "packages/db/migrations";
const SCHEMA_TS = "packages/db/src/schema/index.ts";
const SCHEMA_SQL = "packages/db/schema.sql";

/**
 * Migrations that drizzle-kit would add for this schema, with their SQL.
 * @param schema the Drizzle schema's file
 * @param migrations the folder of committed migrations; copied, never written to
 */
export function missingMigrations(
  schema: string,
  migrations: string,
): { name: string; sql: string }[] {
  const scratch = mkdtempSync(path.join(tmpdir(), "berth-drift-"));
  try {
    cpSync(migrations, scratch, { recursive: true });
    const before = new Set(readdirSync(scratch));
    const bin = path.join(ROOT, "node_modules/drizzle-kit/bin.cjs");
    // drizzle-kit takes paths from its working directory only.
    const here = (file: string): string =>
      `./${path.relative(ROOT, file).replaceAll(path.sep, "/")}`;
    const args = [
      bin,
      "generate",
      "--dialect",
      "postgresql",
      "--schema",
      here(schema),
      "--out",
      here(scratch),
    ];
    // No terminal: a rename it would ask about fails instead of waiting for an answer.
    execFileSync(process.execPath, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
    return readdirSync(scratch)
      .filter((file) => file.endsWith(".sql") && !before.has(file))
      .map((name) => ({ name, sql: readFileSync(path.join(scratch, name), "utf8") }));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Line and texts of the first difference, or undefined. */
export function firstDifference(
  committed: string,
  real: string,
): { line: number; committed: string; real: string } | undefined {
  const [left, right] = [committed.split("\n"), real.split("\n")];
  const index = left.findIndex((text, i) => text !== right[i]);
  if (index < 0 && left.length === right.length) return undefined;
  const at = index < 0 ? left.length : index;
  return { line: at + 1, committed: left[at] ?? "(nothing)", real: right[at] ?? "(nothing)" };
}

async function realSchema(): Promise<string> {
  const postgres = await startPostgres({ ephemeral: true });
  try {
    await migrate(postgres.url("postgres"));
    return await printSchema(postgres.url("postgres"));
  } finally {
    await postgres.stop();
  }
}

function schemaFindings(real: string): Finding[] {
  const file = path.join(ROOT, SCHEMA_SQL);
  const renew = "renew it with `node packages/tools/src/drift.ts --write`";
  if (!existsSync(file)) return [{ file: SCHEMA_SQL, line: 1, message: `is not there; ${renew}` }];
  const difference = firstDifference(readFileSync(file, "utf8"), real);
  if (difference === undefined) return [];
  const message = `has \`${difference.committed}\`, a migrated database \`${difference.real}\`; ${renew}`;
  return [{ file: SCHEMA_SQL, line: difference.line, message }];
}

if (import.meta.main) {
  const missing = missingMigrations(path.join(ROOT, SCHEMA_TS), path.join(ROOT, MIGRATIONS));
  const real = await realSchema();
  if (process.argv.includes("--write")) writeFileSync(path.join(ROOT, SCHEMA_SQL), real);
  printFindings([
    ...missing.map(({ name, sql }) => ({
      file: SCHEMA_TS,
      line: 1,
      message: `needs a migration (drizzle-kit generate would write ${name}):\n${sql}`,
    })),
    ...schemaFindings(real),
  ]);
}
