/**
 * The rights of a role that serves and does nothing else: it reads and writes rows, and cannot change, make or drop
 * what they are in. Migrations need another one, which owns it all.
 */
import { SlotPool, type SlotTransaction } from "./slot-pool.ts";

/** The role cannot be one that only serves; the message says why. */
export class RoleError extends Error {
  override readonly name = "RoleError";
}

/**
 * Grants the role all that a server needs, on what is there and on what the same owner makes later, and takes from
 * everybody the right to make objects beside it. May be run again at any time.
 * @throws RoleError when there is no such role, or no grant could narrow it
 */
export async function grantServing(url: string, role: string): Promise<void> {
  const slots = new SlotPool(url, { slots: 1, applicationName: "berth-grant" });
  try {
    await slots.tx(async (tx) => {
      await mindRole(tx, role);
      await tx.q("select set_config('berth.grantee', $1, true)", [role]);
      await tx.q(GRANTS);
    });
  } finally {
    await slots.end();
  }
}

/** Attributes and memberships that go past any grant. */
async function mindRole(tx: SlotTransaction, role: string): Promise<void> {
  const [found] = await tx.q<{ powers: string[] }>(
    `select to_jsonb(array_remove(array[
         case when r.rolsuper then 'is a superuser' end,
         case when r.rolcreaterole then 'may make roles' end,
         case when r.rolcreatedb then 'may make databases' end,
         case when r.rolreplication then 'may replicate' end,
         case when r.rolbypassrls then 'passes row security' end,
         case when pg_has_role(r.oid, o.oid, 'member') then 'is the owner of the tables' end
       ] || array(
         select 'is a member of ' || m.rolname from pg_roles m
          where m.rolname like 'pg\\_%' and pg_has_role(r.oid, m.oid, 'member') and not r.rolsuper
            and m.rolname <> 'pg_database_owner'
          order by 1
       ), null)) as powers
     from pg_roles r, pg_class c join pg_roles o on o.oid = c.relowner
     where r.rolname = $1 and c.oid = 'berth_migrations'::regclass`,
    [role],
  );
  if (!found)
    throw new RoleError(
      `there is no role ${JSON.stringify(role)}: make it with \`create role … login\``,
    );
  if (found.powers.length > 0)
    throw new RoleError(
      `role ${JSON.stringify(role)} ${found.powers.join(", ")}: no grant makes it one that only serves`,
    );
}

/** In one statement, so that a role's name is only ever an identifier that the server itself has quoted. */
const GRANTS = `do $$
declare
  v_role text := current_setting('berth.grantee');
  v_schema text;
begin
  execute format('revoke create on database %I from public, %I', current_database(), v_role);
  execute format('grant connect on database %I to %I', current_database(), v_role);
  foreach v_schema in array array['public', 'berth'] loop
    execute format('revoke create on schema %I from public, %I', v_schema, v_role);
    execute format('grant usage on schema %I to %I', v_schema, v_role);
    execute format('revoke all on all tables in schema %I from %I', v_schema, v_role);
    execute format('grant select, insert, update, delete on all tables in schema %I to %I', v_schema, v_role);
    execute format('grant usage, select on all sequences in schema %I to %I', v_schema, v_role);
    execute format('grant execute on all functions in schema %I to %I', v_schema, v_role);
    execute format('alter default privileges in schema %I grant select, insert, update, delete on tables to %I', v_schema, v_role);
    execute format('alter default privileges in schema %I grant usage, select on sequences to %I', v_schema, v_role);
    execute format('alter default privileges in schema %I grant execute on functions to %I', v_schema, v_role);
  end loop;
  execute format('revoke insert, update, delete on berth_migrations from %I', v_role);
end $$`;
