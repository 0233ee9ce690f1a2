/** What holds the invariants while nobody looks: constraints, triggers, and a disk that is written to. */
import { migrationHashes } from "@berth/db";
import type { Check, Query, Violation } from "./query.ts";

/** Tables that only the gate may change, each under a statement trigger. */
const GUARDED = [
  "gates",
  "gate_batches",
  "pool_due",
  "pools",
  "offers",
  "quotas",
  "pool_authz",
  "nodes",
  "units",
  "maintenance",
  "reservations",
  "bookings",
  "reservation_keys",
  "rollups",
  "unit_reservations",
  "unit_terms",
  "waiters",
];

const violation = (ids: readonly string[], message: string): Violation => ({
  invariant: "GUARD",
  ids,
  message,
});

/** What the settings of a session of ours have to be, and what one of these answers may be instead. */
const REQUIRED: Readonly<Record<string, RegExp>> = {
  default_transaction_isolation: /^read committed$/,
  fsync: /^on$/,
  full_page_writes: /^on$/,
  session_replication_role: /^origin$/,
  // Each of these waits for the disk of the server itself.
  synchronous_commit: /^(on|local|remote_write|remote_apply)$/,
};

/** Without these a crash may take back what was answered as booked, or a write decide on old rows. */
async function settings(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name in (select string_to_table($1, ' ')) order by name`,
    [Object.keys(REQUIRED).join(" ")],
  );
  return rows
    .filter(({ name, setting }) => !REQUIRED[name]?.test(setting))
    .map(({ name, setting }) =>
      violation([name], `${name} is ${setting}; it must be ${wanted(REQUIRED[name])}`),
    );
}

const wanted = (values: RegExp | undefined) => /[a-z][a-z ]*/.exec(values?.source ?? "")?.[0] ?? "";

/** The schema is what the migrations of this version made; later ones may have been applied on top. */
async function schema(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ tag: string; hash: string }>(`select tag, hash from berth_migrations`);
  const applied = new Map(rows.map(({ tag, hash }) => [tag, hash]));
  return [...migrationHashes()]
    .filter(([tag, hash]) => applied.get(tag) !== hash)
    .map(([tag]) =>
      violation(
        [tag],
        applied.has(tag)
          ? `migration ${tag} was applied in another form than this version has`
          : `migration ${tag} was not applied: run \`berth migrate\``,
      ),
    );
}

async function exclusion(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ name: string; twice: string }>(
    `select t.name, t.twice from (values
        ('bookings', 'a double booking'), ('unit_terms', 'two unit reservations of one unit')
      ) t (name, twice)
      where not exists (
        select 1 from pg_constraint c join pg_index i on i.indexrelid = c.conindid
         where c.conrelid = t.name::regclass and c.contype = 'x' and i.indisvalid)`,
  );
  return rows.map(({ name, twice }) =>
    violation([name], `${name} has no exclusion constraint: nothing would stop ${twice}`),
  );
}

async function primaryKeys(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ name: string }>(
    `select t.name from string_to_table($1, ' ') t(name)
      where not exists (select 1 from pg_constraint c
                         where c.conrelid = t.name::regclass and c.contype = 'p')
      order by 1`,
    [
      "bookings reservations reservation_keys quotas rollups units nodes unit_reservations unit_terms waiters",
    ],
  );
  return rows.map((row) => violation([row.name], `${row.name} has lost its primary key`));
}

/** A trigger that is switched off guards nothing. */
async function triggers(query: Query): Promise<readonly Violation[]> {
  const rows = await query<{ name: string }>(
    `select t.name from string_to_table($1, ' ') t(name)
      where not exists (select 1 from pg_trigger g
                         where g.tgrelid = t.name::regclass and not g.tgisinternal
                           and g.tgenabled in ('O', 'A'))
         or exists (select 1 from pg_trigger g
                     where g.tgrelid = t.name::regclass and not g.tgisinternal
                       and g.tgenabled not in ('O', 'A'))
      order by 1`,
    [GUARDED.join(" ")],
  );
  return rows.map((row) =>
    violation(
      [row.name],
      `${row.name} can be written around the gate: its trigger is missing or off`,
    ),
  );
}

export const guards: Check = {
  invariant: "GUARD",
  title: "constraints, triggers, schema and fsync are in place",
  async run(query) {
    const found: Violation[] = [];
    for (const look of [settings, schema, exclusion, primaryKeys, triggers]) {
      found.push(...(await look(query)));
    }
    return found;
  },
};
