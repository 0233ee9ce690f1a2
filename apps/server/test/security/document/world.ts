/** A server with a fleet, whose things the requests are about; and what it has on its books. */
import type { Client } from "@berth/db";
import { type TestServer, node, pool, startServer } from "../../harness.ts";
import { type Answer, type Sent, type Surface, send } from "./caller.ts";
import type { Operation } from "./openapi.ts";
import { type Kind, NOW, settle, someId } from "./marks.ts";

const KEPT = 12;
const TENANTS = ["t-own", "t-a", "t-b", "t-c"];
const text = (value: unknown): string => JSON.stringify(value);
const ID = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26,52}$/;

export interface World {
  readonly server: TestServer;
  /** Ids of this world in place of the marks. */
  settled(text: string): string;
  call(surface: Surface, sent: Sent): Promise<Answer>;
  /** Takes note of the things that an answer speaks of. */
  learn(operation: Operation, output: unknown): void;
  /** An answer as it would be in any world: things by the order in which they were met. */
  neutral(value: unknown): unknown;
  /** Machines and a pool that nobody has touched yet. */
  refresh(): Promise<void>;
  /** Turns its clock, milliseconds. */
  pass(ms: number): Promise<void>;
  books(): Promise<string>;
  /** How many rows there are, by table. */
  rows(): Promise<Readonly<Record<string, unknown>>>;
}

export async function createWorld(): Promise<World> {
  const server = await startServer({ clock: NOW, config: { rateLimit: 100_000_000 } });
  const known = new Map<Kind, string[]>([["tenant", [...TENANTS]]]);
  const names = new Map<string, string>();
  const { keyId } = await server.admin.access.whoami();

  const note = (kind: Kind, id: string): void => {
    // Whose key is revoked has made no request after that.
    if (id === keyId) return;
    const ids = known.get(kind) ?? [];
    nameOf(kind, id);
    if (ids.includes(id)) return;
    known.set(kind, [id, ...ids].slice(0, KEPT));
  };
  const nameOf = (kind: string, id: string): string => {
    const before = names.get(id);
    if (before !== undefined) return before;
    const name = `${kind}#${names.size}`;
    names.set(id, name);
    return name;
  };
  const walk = (
    value: unknown,
    seen: (text: string, key: string) => unknown,
    key = "",
  ): unknown => {
    if (typeof value === "string") return seen(value, key);
    if (Array.isArray(value)) {
      const parts = value.map((part: unknown) => walk(part, seen, key));
      // Of one instant, and then by ids that are made of chance.
      return key === "pools" ? parts.toSorted((a, b) => (text(a) < text(b) ? -1 : 1)) : parts;
    }
    if (key === "lastUsedAt") return null;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        seen(name, "") as string,
        walk(part, seen, name),
      ]),
    );
  };

  let made = 0;
  const refresh = async (): Promise<void> => {
    made += 1;
    const nodes = [0, 1, 2].map((at) => sound(`w${made}-n${at}`));
    const fleet = await server.fleet(pool(3, 8, { nodes }));
    for (const [kind, id] of [
      ["pool", fleet.poolId],
      ["site", fleet.siteId],
    ] as const)
      note(kind, id);
    for (const nodeId of fleet.nodeIds) {
      note("node", nodeId);
      const { units } = await server.admin.fleet.getNode({ tenantId: "t-own", nodeId });
      for (const { id } of units.slice(0, 4)) {
        note("unit", id);
        known.set("pairunit", [id, ...(known.get("pairunit") ?? [])].slice(0, KEPT));
        known.set("pairnode", [nodeId, ...(known.get("pairnode") ?? [])].slice(0, KEPT));
      }
    }
  };
  await refresh();

  return {
    server,
    settled: (text) =>
      settle(text, (kind, nth) => {
        const ids = known.get(kind) ?? [];
        return ids[nth % Math.max(1, ids.length)] ?? someId(kind, nth);
      }),
    call: (surface, sent) => send(server.url, surface, sent),
    learn({ method, kind: does }, output) {
      walk(output, (said, key) => {
        const kind = ID.exec(said)?.[1];
        // Lists go by ids of chance; what is made is told in the same order everywhere.
        if (kind !== undefined && does === "mutation") note(kind, said);
        if (key === "nextCursor") note(`cursor_${method.replace(".", "_")}`, said);
        return said;
      });
    },
    neutral: (value) =>
      walk(value, (said, key) => {
        if (/cursor$/i.test(key)) return "cursor";
        if (key === "secret" || key === "requestId") return key;
        return said.replaceAll(/([a-z]+)_[0-9a-hjkmnp-tv-z]{26,52}/g, (id, kind: string) =>
          nameOf(kind, id),
        );
      }),
    refresh,
    pass: async (ms) => server.clock?.advance(ms),
    books: async () => JSON.stringify(await count(server.database.sql)),
    async rows() {
      const { newest: _, orders: __, ...rows } = await count(server.database.sql);
      return rows;
    },
  };
}

function sound(name: string) {
  const made = node(name, 8);
  return {
    ...made,
    gpus: (made.gpus ?? []).map((gpu, at) => ({ ...gpu, vfioGroup: String(at) })),
  };
}

/** Tables that a refused call may write to: who was refused what, and who is at work. */
const BESIDE = new Set(["audit", "clock", "servers", "outages", "berth_migrations"]);
let counting: string | undefined;

/** How many rows there are of everything, the newest event, and each pool's place in its order. */
async function count(sql: Client): Promise<Record<string, unknown>> {
  counting ??= await countingQuery(sql);
  const [row] = await sql.unsafe<Record<string, unknown>[]>(counting);
  return { ...row };
}

async function countingQuery(sql: Client): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const counts = tables
    .filter(({ name }) => !BESIDE.has(name))
    .map(({ name }) => `(select count(*) from ${name}) as ${name}`);
  return `select ${counts.join(", ")}, (select coalesce(max(id), 0) from events) as newest,
    (select md5(string_agg(id || ':' || seq, ',' order by id)) from gates) as orders`;
}
