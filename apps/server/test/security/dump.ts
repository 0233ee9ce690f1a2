/** All that lies in a database, as text: what a stolen backup would show. */
import type { TestDatabase } from "@berth/db/testing";

/** Every row of every table of every schema of ours, a line each. */
export async function dumpOf({ sql }: Pick<TestDatabase, "sql">): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`;
  const lines: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ line: string }[]>(
      `select row_to_json(t)::text as line from ${name} t`,
    );
    lines.push(`-- ${name}: ${rows.length}`, ...rows.map(({ line }) => line));
  }
  return lines.join("\n");
}
