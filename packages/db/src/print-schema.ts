/**
 * The schema as text, from the catalog: what a database really has, functions and triggers included. The
 * committed `schema.sql` is this text of a freshly migrated database.
 */
import { createClient } from "./client.ts";

/** Not a part of an extension. */
const OURS = (catalog: string, oid: string): string =>
  `not exists (select from pg_depend x where x.classid = '${catalog}'::regclass
    and x.objid = ${oid} and x.deptype = 'e')`;

const SCHEMAS = `('public', 'berth')`;

const COLUMNS = `select string_agg(format('  %I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case when a.attidentity <> '' then ' generated always as identity'
      else coalesce(' default ' || pg_get_expr(f.adbin, f.adrelid), '') end), E',\\n' order by a.attnum)
  from pg_attribute a left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`;

const QUERY = `
select text from (
  select 1 as part, extname::text as name, format('create extension %I;', extname) as text
  from pg_extension where extname <> 'plpgsql'
  union all
  select 2, nspname, format('create schema %I;', nspname) from pg_namespace where nspname = 'berth'
  union all
  select 3, c.relname, format(E'create table %I (\\n%s\\n)%s;', c.relname, (${COLUMNS}),
    coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', ''))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ${SCHEMAS} and c.relkind = 'r' and ${OURS("pg_class", "c.oid")}
  union all
  select 4, format('%s.%s', c.conrelid::regclass, c.conname),
    format('alter table %s add constraint %I %s;', c.conrelid::regclass, c.conname,
      pg_get_constraintdef(c.oid))
  from pg_constraint c join pg_namespace n on n.oid = c.connamespace
  where n.nspname in ${SCHEMAS} and c.conrelid <> 0 and c.contype in ('p', 'u', 'f', 'c', 'x')
  union all
  select 5, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) || ';'
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ${SCHEMAS}
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  union all
  select 6, p.oid::regprocedure::text, pg_get_functiondef(p.oid) || ';'
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname in ${SCHEMAS} and p.prokind = 'f' and ${OURS("pg_proc", "p.oid")}
  union all
  select 7, format('%s.%s', t.tgrelid::regclass, t.tgname), pg_get_triggerdef(t.oid) || ';'
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ${SCHEMAS} and not t.tgisinternal
) parts order by part, name collate "C"`;

/** Prints every table, constraint, index, function and trigger of ours in a stable order. */
export async function printSchema(url: string): Promise<string> {
  const client = createClient(url, { applicationName: "berth-schema", max: 1 });
  try {
    const rows = await client.unsafe<{ text: string }[]>(QUERY);
    return `${rows.map(({ text }) => text.trimEnd()).join("\n\n")}\n`;
  } finally {
    await client.end({ timeout: 5 });
  }
}
