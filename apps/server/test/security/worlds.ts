/** Two worlds of one shape in one database: A's, which the callers belong to, and B's, which is none of theirs. */
import { type Invoke, type World, absentWorld, makeWorld } from "@berth/api/testing";
import { canary } from "../canary/canaries.ts";
import { ADMIN_KEY, type TestServer, startServer } from "../harness.ts";

export interface Worlds {
  readonly server: TestServer;
  readonly own: World;
  readonly other: World;
  readonly absent: World;
  readonly invoke: Invoke;
}

/** Everything of B's carries its mark: tenants, nodes, GPUs, keys. */
export async function twoWorlds(config: object = {}): Promise<Worlds> {
  // Bad keys in hundreds, each from an address of its own.
  const trustedProxies = ["127.0.0.1"];
  const server = await startServer({ config: { rateLimit: 1_000_000, trustedProxies, ...config } });
  const invoke: Invoke = async (method, input, token) => {
    const { status, body } = await server.http(method, input, { token });
    if (status !== 200) throw new Error(`${method} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
  const own = await makeWorld(invoke, ADMIN_KEY, canary("a"));
  const other = await makeWorld(invoke, ADMIN_KEY, canary("b"));
  return { server, own, other, absent: absentWorld(other), invoke };
}

/** Of these a row is its tenant's, whatever ids of others it names. */
const OF_THEIR_TENANT = new Set(["audit", "api_keys"]);

/** The rows of every table that are the world's, by its mark or one of its ids: how many, and a digest. */
export async function rowsOf({ server }: Worlds, world: World): Promise<Record<string, string>> {
  const { sql } = server.database;
  const mark = canary(world.tenantId);
  const marks = [
    mark,
    ...[world.siteId, world.poolId, world.sparePoolId, world.nodeId, world.setAside.nodeId],
  ];
  const patterns = marks.map((mark) => `%${mark}%`);
  const tables = await tablesOf(server);
  const digests = tables.map(
    (table) => `select '${table}' as "table", count(*)::text || ' rows, ' ||
      coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as digest
      from ${table} t where ${OF_THEIR_TENANT.has(table) ? "t.tenant_id like $2 and " : ""}
        t::text like any($1::text[])`,
  );
  const rows = await sql.unsafe<{ table: string; digest: string }[]>(digests.join(" union all "), [
    patterns,
    `%${mark}%`,
  ]);
  return Object.fromEntries(rows.map(({ table, digest }) => [table, digest]));
}

async function tablesOf({ database }: TestServer): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`;
  return rows.map(({ name }) => name);
}
