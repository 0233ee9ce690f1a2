import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { layoutIssues } from "./check.ts";
import { JOINED, LAYOUT, WIDENED } from "./layout.ts";
import { readSchema } from "./schema.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../..");
const SQL = readFileSync(path.join(ROOT, "packages/db/schema.sql"), "utf8");
const layout = { places: LAYOUT, widened: WIDENED, joined: JOINED };

const added = (sql: string): ReturnType<typeof readSchema> => readSchema(`${SQL}\n${sql}\n`);

test("every table, unique key and foreign key has its place among shards, or says why it has none", () => {
  expect(layoutIssues(readSchema(SQL))).toEqual([]);
});

test("every table, key and exclusion of the schema is seen", () => {
  const { tables, uniqueKeys, foreignKeys } = readSchema(SQL);
  const count = (words: RegExp): number => SQL.match(words)?.length ?? 0;
  expect(tables.size).toBe(count(/^create table /gm));
  expect(uniqueKeys).toHaveLength(
    count(/^alter table .* (?:PRIMARY KEY|UNIQUE|EXCLUDE)\b/gm) + count(/^CREATE UNIQUE INDEX /gm),
  );
  expect(foreignKeys).toHaveLength(count(/ FOREIGN KEY /g));
  expect(uniqueKeys).toContainEqual({
    name: "bookings_no_overlap",
    table: "bookings",
    columns: ["unit_key", "during"],
    kind: "exclusion",
  });
  expect(foreignKeys).toContainEqual({
    name: "units_node_id_nodes_id_fk",
    table: "units",
    columns: ["node_id"],
    target: "nodes",
    targetColumns: ["id"],
  });
});

test("a table, a unique key, an index or a foreign key that comes without a word about shards is found", () => {
  const newcomers: readonly [string, string][] = [
    ["create table rents (\n  id text not null\n);", "rents has no place in the layout"],
    [
      "alter table rollups add constraint rollups_at UNIQUE (updated_at);",
      "rollups_at of rollups lacks the column that its table is cut by",
    ],
    [
      "CREATE UNIQUE INDEX rollups_one ON public.rollups USING btree (resource);",
      "rollups_one of rollups lacks the column that its table is cut by",
    ],
    [
      "alter table bookings add constraint bookings_of FOREIGN KEY (reservation_id) REFERENCES reservations(id);",
      "bookings_of lacks the columns that its tables are cut by",
    ],
    [
      "alter table quotas add constraint quotas_server FOREIGN KEY (used) REFERENCES servers(id);",
      "quotas_server refers from distributed to local, which Citus cannot keep",
    ],
    [
      "alter table sites add constraint sites_pool FOREIGN KEY (id) REFERENCES pools(id);",
      "sites_pool refers from reference to distributed, which Citus cannot keep",
    ],
  ];
  for (const [sql, issue] of newcomers) expect(layoutIssues(added(sql))).toEqual([issue]);
});

test("a key that has its column, or a pair of tables that is joined by both, needs no excuse", () => {
  expect(
    layoutIssues(
      added(
        "alter table rollups add constraint rollups_also UNIQUE (updated_at, pool_id);\n" +
          "alter table quotas add constraint quotas_pool FOREIGN KEY (tenant_id, pool_id) REFERENCES offers(tenant_id, pool_id);",
      ),
    ),
  ).toEqual([]);
  const excused = { ...layout, widened: { ...WIDENED, rollups_pk: "it is small" } };
  expect(layoutIssues(readSchema(SQL), excused)).toEqual([
    "rollups_pk has its column and needs no excuse",
  ]);
});

test("what the layout says of a table, column or key that is gone is found", () => {
  const places = {
    ...LAYOUT,
    rents: { kind: "local", because: "gone" } as const,
    rollups: { kind: "distributed", by: "site_id", group: "gate" } as const,
    bookings: { kind: "distributed", by: "pool_id", isNew: true, group: "gate" } as const,
  };
  const issues = layoutIssues(readSchema(SQL), { ...layout, places, joined: { ...JOINED, x: "" } });
  expect(issues).toEqual(
    expect.arrayContaining([
      "rents is in the layout and not in the schema",
      "rollups is cut by site_id, which it does not have",
      "bookings has pool_id by now: it is not new",
      "x is in the layout and not in the schema",
    ]),
  );
});
