/** A failure of ours shows an id and nothing else: whatever breaks below, on every surface, in a server run as it comes. */
import { randomBytes } from "node:crypto";
import type { MethodName } from "@berth/contract";
import { grantServing } from "@berth/db";
import { type FaultProxy, type TestDatabase, faultProxy, testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_KEY, type Fleet, type SpawnedServer, pool, spawnServer } from "../harness.ts";
import { type Answer, answerOf, askOf, surfacesOf } from "./surfaces.ts";

const ROLE = `berth_fails_${randomBytes(4).toString("hex")}`;
let database: TestDatabase;
let proxy: FaultProxy;
let servingUrl: string;
let server: SpawnedServer;
let fleet: Fleet;
beforeAll(async () => {
  database = await testDatabase();
  await database.sql.unsafe(`create role ${ROLE} login password 'serving'`);
  await grantServing(database.url, ROLE);
  proxy = await faultProxy(database.url);
  const serving = (url: string) =>
    Object.assign(new URL(url), { username: ROLE, password: "serving" }).href;
  servingUrl = serving(database.url);
  // Nothing of ours is in its environment, NODE_ENV neither.
  server = await spawnServer(serving(proxy.url), { LOG_LEVEL: "trace" });
  fleet = await server.actors.fleet(pool(2, 4));
});
afterAll(async () => {
  await server.kill();
  await proxy.close();
  await database.sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`);
  await database.close();
});

/** In what breaks; nobody may read it anywhere, the log included. */
const CANARY = "CANARY-INTERNAL";
/** What drivers, the database, our libraries and Node say of a failure. */
const TELLS =
  /CANARY|_gone|relation|column|syntax|permission|privilege|violat|select |insert |update .* set|postgres|pg_|plpgsql|\.[cm]?[tj]s\b|node_modules|\\n\s+at |\bat \w+\.\w+|stack|ECONN|ENOENT|\b42\w{3}\b|\b0A000\b|sqlstate|zod|TRPCError|TypeError|RangeError|FailpointError|127\.0\.0\.1|int8/i;
const INTERNAL = "Something went wrong on our side; quote the request id when you report it.";

interface Break {
  readonly how: string;
  /** Breaks it; the answer mends it. */
  readonly by: () => Promise<() => Promise<unknown>>;
  readonly calls: (fleet: Fleet) => readonly (readonly [MethodName, object])[];
  readonly code?: "INTERNAL" | "UNAVAILABLE";
}

const sql = (breaks: string, mends: string) => async () => {
  await database.sql.unsafe(breaks);
  return () => database.sql.unsafe(mends);
};
/** Past the guard, which lets only the engine change what it keeps. */
const pastTheGuard = (statements: string) =>
  database.sql.unsafe(
    `do $past$ begin set local session_replication_role = replica; ${statements}; end $past$`,
  );
const renamed = (table: string) =>
  sql(
    `alter table ${table} rename to ${table}_gone`,
    `alter table ${table}_gone rename to ${table}`,
  );
const without = (table: string, column: string) =>
  sql(
    `alter table ${table} rename column ${column} to ${column}_gone`,
    `alter table ${table} rename column ${column}_gone to ${column}`,
  );
const raising = (table: string) =>
  sql(
    `create function ${table}_raises() returns trigger language plpgsql as
       $$ begin raise exception '${CANARY} %', new using detail = '${CANARY}'; end $$;
     create trigger ${table}_raises before insert or update on ${table}
       for each row execute function ${table}_raises()`,
    `drop trigger ${table}_raises on ${table}; drop function ${table}_raises()`,
  );
const revoked = (table: string) =>
  sql(`revoke select on ${table} from ${ROLE}`, `grant select on ${table} to ${ROLE}`);

const booking = ({ poolId }: Fleet) => ({
  tenantId: "t-a",
  poolId,
  devices: [{ class: "gpu", count: 1 }],
  duration: "1h",
  idempotencyKey: randomBytes(8).toString("hex"),
});
const ofPool = ({ owner, poolId }: Fleet) => ({ tenantId: owner, poolId });
const site = ({ owner }: Fleet) => ({ tenantId: owner, name: "another", region: "r" });
const unitReads = ({ nodeIds }: Fleet): [MethodName, object] => [
  "unitReservations.list",
  { nodeId: nodeIds[0] ?? "" },
];

const BREAKS: readonly Break[] = [
  {
    how: "a table is gone: pools",
    by: renamed("pools"),
    calls: (f) => [
      ["pools.list", { tenantId: f.owner }],
      ["pools.get", ofPool(f)],
      ["capacity.summary", { tenantId: f.owner }],
      ["capacity.preview", booking(f)],
      ["reservations.create", booking(f)],
      ["pools.update", { ...ofPool(f), gpuModel: "H200" }],
    ],
  },
  {
    how: "a table is gone: nodes",
    by: renamed("nodes"),
    calls: (f) => [["fleet.listNodes", { tenantId: f.owner }], unitReads(f)],
  },
  {
    how: "a table is gone: events",
    by: renamed("events"),
    calls: (f) => [
      ["events.list", { tenantId: f.owner }],
      ["fleet.putSite", site(f)],
    ],
  },
  {
    how: "a table is gone: audit",
    by: renamed("audit"),
    calls: (f) => [["access.audit", { tenantId: f.owner }]],
  },
  {
    how: "a column is gone: of keys",
    by: without("api_keys", "last_used_at"),
    calls: (f) => [
      ["access.listKeys", { tenantId: f.owner }],
      ["access.createKey", { tenantId: f.owner, role: "tenant-viewer", name: "k" }],
    ],
  },
  {
    how: "a column is gone: of tenants",
    by: without("tenants", "name"),
    calls: () => [
      ["fleet.listTenants", {}],
      ["fleet.putTenant", { tenantId: "t-new", name: "new" }],
    ],
  },
  {
    how: "a column is gone: of sites",
    by: without("sites", "region"),
    calls: (f) => [
      ["fleet.listSites", { tenantId: f.owner }],
      ["fleet.putSite", site(f)],
    ],
  },
  {
    how: "the database raises an error of its own, with the row in it",
    by: raising("sites"),
    calls: (f) => [["fleet.putSite", site(f)]],
  },
  {
    how: "the database raises one in a write of the engine",
    by: raising("reservations"),
    calls: (f) => [["reservations.create", booking(f)]],
  },
  {
    how: "a right is taken away: to read nodes",
    by: revoked("nodes"),
    calls: (f) => [["fleet.listNodes", { tenantId: f.owner }], unitReads(f)],
  },
  {
    how: "a right is taken away: to read tenants",
    by: revoked("tenants"),
    calls: (f) => [
      ["fleet.listTenants", {}],
      ["pools.list", { tenantId: f.owner }],
      ["events.list", { tenantId: f.owner }],
    ],
  },
  {
    how: "what is stored is no output: a name of 100,000 characters",
    by: sql(
      `update tenants set name = '${CANARY}' || repeat('x', 100000) where tenant_id = 't-b'`,
      "update tenants set name = 't-b' where tenant_id = 't-b'",
    ),
    calls: () => [["fleet.listTenants", {}]],
  },
  {
    how: "what is stored is no number: a time past 2^53",
    by: sql(
      "update api_keys set expires_at = 9007199254740993 where tenant_id = 't-bad'",
      "update api_keys set expires_at = null where tenant_id = 't-bad'",
    ),
    calls: () => [["access.listKeys", { tenantId: "t-bad" }]],
  },
  {
    how: "what is stored is no policy: a handler, and the planner, throw over it",
    by: async () => {
      await pastTheGuard(
        `create table policies as select id, policy from pools; update pools set policy = '"${CANARY}"'`,
      );
      return () =>
        pastTheGuard(
          `update pools p set policy = k.policy from policies k where k.id = p.id; drop table policies`,
        );
    },
    calls: (f) => [["pools.get", ofPool(f)]],
  },
  {
    how: "the connection is cut in the middle of a call",
    by: async () => {
      proxy.set({ kind: "cut", on: /from (pools|tenants|nodes)\b/, at: "after" });
      return () => Promise.resolve(proxy.set());
    },
    code: "UNAVAILABLE",
    calls: (f) => [
      ["fleet.listTenants", {}],
      ["pools.get", ofPool(f)],
    ],
  },
  {
    how: "the database is gone",
    by: async () => {
      proxy.set({ kind: "refuse" });
      proxy.cutAll();
      return () => Promise.resolve(proxy.set());
    },
    code: "UNAVAILABLE",
    calls: (f) => [
      ["fleet.listSites", { tenantId: f.owner }],
      ["events.list", { tenantId: f.owner }],
      ["reservations.create", booking(f)],
      unitReads(f),
    ],
  },
];

/** Of a problem or of tRPC's envelope: what the wire says of the error. */
function wireOf(text: string): Record<string, unknown> {
  const body = JSON.parse(text) as { error?: { json: { data: { berth: object } } } };
  return { ...(body.error?.json.data.berth ?? body) };
}

function expectTellsNothing(what: string, { code, text, headers }: Answer): void {
  const wire = wireOf(text);
  expect([what, TELLS.exec(`${text}\n${JSON.stringify(headers)}`)?.[0]]).toEqual([what, undefined]);
  expect([what, wire]).toMatchObject([
    what,
    { code, requestId: "ID", issues: null, details: null },
  ]);
  if (code === "INTERNAL") expect([what, wire["message"]]).toEqual([what, INTERNAL]);
}

let failures = 0;
async function failEach(url: string, broken: Break): Promise<void> {
  const { how, code: wanted = "INTERNAL" } = broken;
  for (const [method, input] of broken.calls(fleet))
    for (const surface of surfacesOf(method)) {
      const answer = await answerOf(url, askOf(surface, method, input), ADMIN_KEY);
      const what = `${how}: ${method} over ${surface}`;
      expect([what, answer.code, answer.text]).toEqual([what, wanted, answer.text]);
      expectTellsNothing(what, answer);
      failures += 1;
    }
}

it.each(BREAKS)("shows an id and nothing else when $how", async (broken) => {
  await server.actors.token("t-bad");
  const mend = await broken.by();
  try {
    await failEach(server.url, broken);
  } finally {
    await mend();
  }
  // It lives, and does what it did before.
  const again = () => server.actors.http("pools.get", ofPool(fleet));
  await expect.poll(async () => (await again()).status, { timeout: 20_000 }).toBe(200);
});

it("shows an id and nothing else when the planner throws", async () => {
  const breaking = await spawnServer(servingUrl, { BERTH_FAILPOINT: "place.done:throw" });
  try {
    await failEach(breaking.url, {
      how: "the planner throws",
      by: () => Promise.resolve(() => Promise.resolve()),
      calls: (f) => [
        ["reservations.create", booking(f)],
        ["reservations.create", booking(f)],
      ],
    });
  } finally {
    await breaking.kill();
  }
});

it("was seen to: more than 30 failures, on each surface; the log has them by id, without what the database said", () => {
  expect(failures).toBeGreaterThan(60);
  const written = server.stdout();
  expect(written).not.toContain(CANARY);
  expect(written).not.toMatch(/permission denied|does not exist|select .* from/i);
  const failed = written
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === "a call failed");
  expect(failed.length).toBeGreaterThan(30);
  for (const line of failed) expect(line["requestId"]).toMatch(/^[0-9a-f-]{36}$/);
  const states = failed.map(({ sqlState }) => sqlState);
  expect(states).toEqual(expect.arrayContaining(["42P01", "42703", "42501", "P0001", undefined]));
});
