/** Whether the layout says something true of each table and key of the schema. */
import { JOINED, LAYOUT, type Place, WIDENED } from "./layout.ts";
import type { ForeignKey, Schema, UniqueKey } from "./schema.ts";

export interface Layout {
  readonly places: Readonly<Record<string, Place>>;
  readonly widened: Readonly<Record<string, string>>;
  readonly joined: Readonly<Record<string, string>>;
}

const COMMITTED: Layout = { places: LAYOUT, widened: WIDENED, joined: JOINED };

/** What is wrong, a sentence each. */
export function layoutIssues(schema: Schema, layout: Layout = COMMITTED): string[] {
  return [
    ...tableIssues(schema, layout),
    ...schema.uniqueKeys.flatMap((key) => uniqueIssues(key, layout)),
    ...schema.foreignKeys.flatMap((key) => foreignIssues(key, layout)),
    ...leftovers(schema, layout),
  ];
}

/** Whether the key is proved on one worker as it is. */
export function isCovered({ table, columns }: UniqueKey, { places }: Layout = COMMITTED): boolean {
  const place = places[table];
  return place?.kind !== "distributed" || (place.isNew !== true && columns.includes(place.by));
}

function tableIssues({ tables }: Schema, { places }: Layout): string[] {
  return [...tables].flatMap(([table, columns]) => {
    const place = places[table];
    if (!place) return [`${table} has no place in the layout`];
    if (place.kind !== "distributed") return [];
    const has = columns.includes(place.by);
    if (place.isNew && has) return [`${table} has ${place.by} by now: it is not new`];
    return has || place.isNew ? [] : [`${table} is cut by ${place.by}, which it does not have`];
  });
}

function uniqueIssues(key: UniqueKey, layout: Layout): string[] {
  const { name, table } = key;
  const isExplained = layout.widened[name] !== undefined;
  if (isCovered(key, layout))
    return isExplained ? [`${name} has its column and needs no excuse`] : [];
  return isExplained ? [] : [`${name} of ${table} lacks the column that its table is cut by`];
}

function foreignIssues(key: ForeignKey, { places, joined }: Layout): string[] {
  const [from, to] = [places[key.table], places[key.target]];
  if (!from || !to || to.kind === "reference") return [];
  if (to.kind === "local" || from.kind !== "distributed")
    return [`${key.name} refers from ${from.kind} to ${to.kind}, which Citus cannot keep`];
  const at = key.columns.indexOf(from.by);
  const isKept = from.group === to.group && at >= 0 && key.targetColumns[at] === to.by;
  const isExplained = joined[key.name] !== undefined;
  if (isKept) return isExplained ? [`${key.name} has its columns and needs no excuse`] : [];
  return isExplained ? [] : [`${key.name} lacks the columns that its tables are cut by`];
}

/** What the layout says of things that are not there. */
function leftovers(schema: Schema, { places, widened, joined }: Layout): string[] {
  const unique = new Set(schema.uniqueKeys.map(({ name }) => name));
  const foreign = new Set(schema.foreignKeys.map(({ name }) => name));
  return [
    ...Object.keys(places).filter((table) => !schema.tables.has(table)),
    ...Object.keys(widened).filter((name) => !unique.has(name)),
    ...Object.keys(joined).filter((name) => !foreign.has(name)),
  ].map((name) => `${name} is in the layout and not in the schema`);
}
