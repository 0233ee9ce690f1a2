/** Tables, unique keys and foreign keys of the committed `schema.sql`, which is what a migrated database has. */

export interface UniqueKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** A primary key, a unique key or index, or an exclusion constraint: each proves something of all rows. */
  readonly kind: "primary" | "unique" | "exclusion";
}

export interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

export interface Schema {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly uniqueKeys: readonly UniqueKey[];
  readonly foreignKeys: readonly ForeignKey[];
}

const TABLE = /^create table (\w+) \(\n((?: {2}.*\n)+)\)/gm;
const CONSTRAINT =
  /^alter table (\w+) add constraint (\w+) (PRIMARY KEY|UNIQUE|EXCLUDE|FOREIGN KEY) ?(.*);$/gm;
const INDEX = /^CREATE UNIQUE INDEX (\w+) ON public\.(\w+) USING \w+ \(([^)]*)\)/gm;

export function readSchema(sql: string): Schema {
  const tables = new Map<string, readonly string[]>();
  for (const [, table = "", lines = ""] of sql.matchAll(TABLE)) {
    const columns = lines.trim().split("\n");
    tables.set(
      table,
      columns.map((line) => line.trim().split(" ")[0]?.replaceAll('"', "") ?? ""),
    );
  }
  const uniqueKeys: UniqueKey[] = [];
  const foreignKeys: ForeignKey[] = [];
  for (const [, table = "", name = "", word, rest = ""] of sql.matchAll(CONSTRAINT)) {
    const columns = listIn(rest);
    if (word !== "FOREIGN KEY") {
      const kind = word === "UNIQUE" ? "unique" : word === "EXCLUDE" ? "exclusion" : "primary";
      uniqueKeys.push({ name, table, columns, kind });
      continue;
    }
    const references = rest.slice(rest.indexOf("REFERENCES ") + "REFERENCES ".length);
    const target = references.slice(0, references.indexOf("("));
    foreignKeys.push({ name, table, columns, target, targetColumns: listIn(references) });
  }
  for (const [, name = "", table = "", columns = ""] of sql.matchAll(INDEX))
    uniqueKeys.push({ name, table, columns: listIn(`(${columns})`), kind: "unique" });
  return { tables, uniqueKeys, foreignKeys };
}

/** The columns in the first parentheses; of an exclusion those before `WITH`. */
function listIn(text: string): string[] {
  const inside = text.slice(text.indexOf("(") + 1, text.indexOf(")"));
  return inside.split(",").map((part) => part.trim().split(" ")[0]?.replaceAll('"', "") ?? "");
}
