/** Two servers without HTTP on one database, many small pools that are alike, and what became of one of them. */
import { randomBytes } from "node:crypto";
import { type Api, createAccess, createApi, toApiError } from "@berth/api";
import type { MethodName } from "@berth/contract";
import { type Failpoint, type FailpointName, createPoolStore, openDatabase } from "@berth/db";
import type { TestDatabase } from "@berth/db/testing";
import { type Engine, createEngine } from "@berth/engine";
import { ADMIN_KEY, node } from "../../harness.ts";

export const OWNER = "t-own";
export const GUEST = "t-a";
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A call's code, and what it answered. */
export interface Outcome {
  readonly code: string;
  readonly output: unknown;
}

export interface Hand {
  call(method: MethodName, input: object): Promise<Outcome>;
  settle(poolId: string): Promise<Outcome>;
  close(): Promise<void>;
}

/** A server's insides. Nothing of it runs by itself: no beat, no worker. */
export function openHand(database: TestDatabase, failpoint?: Failpoint): Hand {
  const db = openDatabase(database.url, { connections: 2, writers: 2 });
  const engine: Engine = createEngine({
    store: createPoolStore(db),
    random: randomBytes,
    log: quiet,
    elapsed: () => performance.now(),
    failpoint,
  });
  const api: Api = createApi({
    db,
    engine,
    access: createAccess({ db, log: quiet }),
    log: quiet,
    random: randomBytes,
    options: { sealKey: null, platformOrg: "platform" },
  });
  const outcome = (work: Promise<unknown>): Promise<Outcome> =>
    work.then(
      (output) => ({ code: "OK", output }),
      (thrown: unknown) => ({ code: toApiError(thrown).code, output: null }),
    );
  return {
    call: (method, input) =>
      outcome(
        api.invoke({
          method,
          rawInput: () => Promise.resolve(input),
          context: api.context({ token: ADMIN_KEY, requestId: "interleaved" }),
        }),
      ),
    settle: (poolId) => outcome(engine.settle([poolId as Parameters<Engine["settle"]>[0][number]])),
    async close() {
      await engine.stop();
      await api.stop();
      await db.close();
    },
  };
}

/** Holds up whoever passes an armed point first, once. */
export interface Latch {
  readonly failpoint: Failpoint;
  /** Resolves when somebody is there; until `open` is called it stays. */
  arm(point: FailpointName): { readonly reached: Promise<void>; open(): void };
}

export function latch(): Latch {
  let armed: { point: FailpointName; reach(): void; opened: Promise<void> } | null = null;
  return {
    async failpoint(name) {
      if (armed?.point !== name) return;
      const { reach, opened } = armed;
      armed = null;
      reach();
      await opened;
    },
    arm(point) {
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: opened, resolve: open } = Promise.withResolvers<void>();
      armed = { point, reach, opened };
      return {
        reached,
        open() {
          armed = null;
          open();
        },
      };
    },
  };
}

/** A pool of three nodes of different sizes, so that no two are as good as each other; a tenant of its own under the guest, and what operations need. */
export interface Plot {
  readonly name: string;
  /** The instant at which it was made, of the pool's clock. */
  readonly madeAt: number;
  readonly siteId: string;
  readonly poolId: string;
  /** Child of the guest; books. */
  readonly tenantId: string;
  /** By name, as `n0`. */
  readonly nodeIds: ReadonlyMap<string, string>;
  /** By name, as `n0/1`. */
  readonly unitIds: ReadonlyMap<string, string>;
  /** What operations have prepared, by name. */
  readonly made: Map<string, string>;
}

export const NODES: Readonly<Record<string, number>> = { n0: 2, n1: 5, n2: 8 };

/** A report of one of the plot's nodes; `gpus` = those that it still has. */
export function report(plot: string, name: string, gpus: number, without: readonly number[] = []) {
  const { gpus: all = [], ...rest } = node(`${plot}-${name}`, gpus);
  const left = all.filter((_, index) => !without.includes(index));
  return {
    ...rest,
    gpus: left.map((gpu, index) => ({ ...gpu, index, vfioGroup: `${gpu.index}` })),
  };
}

export async function makePlot(
  hand: Hand,
  { siteId, name, madeAt }: Pick<Plot, "siteId" | "name" | "madeAt">,
): Promise<Plot> {
  const tenantId = `m-${name}`;
  await done(hand.call("fleet.putTenant", { tenantId, parentId: GUEST }));
  const made = await done(
    hand.call("pools.create", {
      tenantId: OWNER,
      siteId,
      class: "metal-host",
      gpuModel: "H100",
      idempotencyKey: `pool-${name}`,
    }),
  );
  const poolId = String(made["id"]);
  const nodes = Object.entries(NODES).map(([each, gpus]) => report(name, each, gpus));
  await done(hand.call("fleet.putNodes", { siteId, poolId, nodes }));
  await done(
    hand.call("pools.offer", {
      tenantId: OWNER,
      poolId,
      toTenantId: GUEST,
      includeDescendants: true,
      quota: { gpu: 100 },
    }),
  );
  return {
    name,
    madeAt,
    siteId,
    poolId,
    tenantId,
    nodeIds: new Map(),
    unitIds: new Map(),
    made: new Map(),
  };
}

/** Looks up the ids that the reports were given. */
export async function surveyed(database: TestDatabase, plot: Plot): Promise<Plot> {
  const rows = await database.sql<{ node: string; nodeId: string; unit: number; unitId: string }[]>`
    select replace(n.name, ${`${plot.name}-`}, '') as node, n.id as "nodeId", u.index::int as unit,
      u.id as "unitId" from nodes n join units u on u.node_id = n.id
     where n.site_id = ${plot.siteId} and n.name like ${`${plot.name}-%`} and u.class = 'gpu'`;
  return {
    ...plot,
    nodeIds: new Map(rows.map((row) => [row.node, row.nodeId])),
    unitIds: new Map(rows.map((row) => [`${row.node}/${row.unit}`, row.unitId])),
  };
}

/** What it answered; throws when it was refused. */
export async function done(call: Promise<Outcome>): Promise<Record<string, unknown>> {
  const { code, output } = await call;
  if (code !== "OK") throw new Error(`preparing: ${code}`);
  return output as Record<string, unknown>;
}

/** Ids by the names that they have in every plot, instants as seen from its beginning, counters left out. */
export function anonymous(plot: Plot, value: unknown): string {
  const names = new Map<string, string>([
    ...[...plot.nodeIds].map(([name, id]) => [id, name] as const),
    ...[...plot.unitIds].map(([name, id]) => [id, name] as const),
    [plot.poolId, "the pool"],
  ]);
  const name = (text: string): string =>
    text
      .replaceAll(
        /\b(?:pool|node|unit|rsv|ursv|evt|site)_[0-9a-z]{26,60}\b/g,
        (id) => names.get(id) ?? id.split("_")[0] ?? "",
      )
      .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => String(Date.parse(at)))
      .replaceAll(/\b1\d{12}\b/g, (at) => `+${Number(at) - plot.madeAt}`)
      .replaceAll(new RegExp(`\\b${plot.name}-|m-${plot.name}\\b`, "g"), "");
  return name(
    JSON.stringify(value, (key, each: unknown) => {
      if (VOLATILE.has(key)) return undefined;
      // A gang's members are numbered by the ids of their nodes.
      if (key !== "members" || !Array.isArray(each)) return each;
      return each
        .map((member: object) => ({ ...member, index: undefined }))
        .toSorted((x, y) => name(JSON.stringify(x)).localeCompare(name(JSON.stringify(y))));
    }),
  );
}

/** Which differ between two plots, or between two orders that come to the same. */
const VOLATILE = new Set([
  "id",
  "seq",
  "key",
  "unit_key",
  "xid",
  "event_id",
  "created_at",
  "updated_at",
  "used_at",
  "gate_seq",
  "idx",
  "gpu_uuid",
  "idempotency_key",
  "createdAt",
  "updatedAt",
]);

/** Every row of the plot, as text that is the same for the same state. */
export async function stateOf({ sql }: TestDatabase, plot: Plot): Promise<string> {
  const { poolId, name, siteId, tenantId } = plot;
  const mine = sql`(select id from nodes where site_id = ${siteId} and name like ${`${name}-%`})`;
  const [row] = await sql<{ state: Record<string, readonly unknown[]> }[]>`
    select jsonb_build_object(
      'pools', (select jsonb_agg(to_jsonb(t)) from pools t where id = ${poolId}),
      'offers', (select jsonb_agg(to_jsonb(t)) from offers t where pool_id = ${poolId}),
      'quotas', (select jsonb_agg(to_jsonb(t)) from quotas t where pool_id = ${poolId}),
      'rollups', (select jsonb_agg(to_jsonb(t)) from rollups t where pool_id = ${poolId}),
      'reservations', (select jsonb_agg(to_jsonb(t)) from reservations t where pool_id = ${poolId}),
      'bookings', (select jsonb_agg(jsonb_build_object('unit', u.id, 'during', b.during))
         from bookings b join units u on u.key = b.unit_key where b.pool_id = ${poolId}),
      'nodes', (select jsonb_agg(to_jsonb(t)) from nodes t where id in ${mine}),
      'units', (select jsonb_agg(to_jsonb(t) || jsonb_build_object('unit', t.id))
         from units t where node_id in ${mine}),
      'terms', (select jsonb_agg(to_jsonb(t)) from unit_reservations t where node_id in ${mine}),
      'tenant', (select jsonb_agg(to_jsonb(t)) from tenants t where tenant_id = ${tenantId}),
      'events', (select jsonb_agg(jsonb_build_object('type', type, 'tenant', tenant_id))
         from events where pool_id = ${poolId})) as state`;
  const sorted = Object.entries(row?.state ?? {}).map(([table, rows]) => [
    table,
    (rows ?? []).map((each) => anonymous(plot, each)).toSorted(),
  ]);
  return JSON.stringify(Object.fromEntries(sorted), null, 1);
}
