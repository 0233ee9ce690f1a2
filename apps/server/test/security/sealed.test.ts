/** A cluster's token goes in and never comes out: sealed in the database, absent from everything else. */
import { createDecipheriv } from "node:crypto";
import { AUTHORIZATION_MATRIX } from "@berth/api/testing";
import { METHOD_NAMES } from "@berth/contract";
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { METRICS_TOKEN } from "../faults/together.ts";
import { ADMIN_KEY, type Fleet, type TestServer, pool, startServer } from "../harness.ts";
import { dumpOf } from "./dump.ts";
import { answerOf, askOf, surfacesOf } from "./surfaces.ts";

const TOKEN = "cluster-token-canary-4b1d";
const KUBERNETES = { endpoint: "https://k8s.test:6443", token: TOKEN, caHash: "sha256:00" };
const KEY = new Uint8Array(32).fill(7);
const OTHER_KEY = new Uint8Array(32).fill(8);

let database: TestDatabase;
let server: TestServer;
let fleet: Fleet;
let other: Fleet;
const lines: string[] = [];
const start = (sealKey: Uint8Array | null) =>
  startServer({ database, lines, config: { sealKey, metricsToken: METRICS_TOKEN } });
beforeAll(async () => {
  database = await testDatabase();
  server = await start(KEY);
  fleet = await server.fleet(pool(1, 2));
  other = await server.fleet(pool(1, 2));
  for (const { owner, poolId } of [fleet, other])
    await server.admin.pools.update({
      tenantId: owner,
      poolId,
      policy: { kubernetes: KUBERNETES },
    });
});
afterAll(async () => {
  await server.stopServing();
  await database.close();
});

const sealedOf = async (poolId: string): Promise<Buffer> => {
  const [row] = await database.sql<{ sealed: Uint8Array }[]>`
    select kubernetes_token as sealed from pools where id = ${poolId}`;
  return Buffer.from(row?.sealed ?? []);
};

function opened(sealed: Buffer, poolId: string): string {
  const decipher = createDecipheriv("aes-256-gcm", KEY, sealed.subarray(0, 12));
  decipher.setAAD(Buffer.from(poolId)).setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString("utf8");
}

/** The text, and the ways in which JSON, the database and cursors write bytes. */
const SPELLINGS = [
  TOKEN,
  Buffer.from(TOKEN).toString("hex"),
  Buffer.from(TOKEN).toString("base64").slice(0, -4),
  Buffer.from(TOKEN).toString("base64url").slice(0, -4),
];
function expectNowhere(texts: Readonly<Record<string, string>>): void {
  for (const [where, text] of Object.entries(texts))
    for (const spelling of SPELLINGS)
      expect([where, text.includes(spelling)]).toEqual([where, false]);
}

it("is read by nobody, by no method, on no surface: every read as every role, events, audit, metrics, log, document", async () => {
  const tokens: Record<string, string> = { "fleet-admin": ADMIN_KEY };
  for (const role of ["tenant-admin", "tenant-operator", "tenant-viewer"] as const) {
    tokens[`the owner's ${role}`] = await server.token(fleet.owner, role);
    tokens[`another's ${role}`] = await server.token("t-a", role);
  }
  const world = {
    tenantId: fleet.owner,
    poolId: fleet.poolId,
    siteId: fleet.siteId,
    nodeId: fleet.nodeIds[0],
    limit: 200,
  };
  const seen: Record<string, string> = {};
  let shown = 0;
  const reads = METHOD_NAMES.filter((method) =>
    /\.(?:get|list\w*|audit|summary|whoami)$/.test(method),
  );
  expect(reads.length).toBeGreaterThan(10);
  for (const [who, token] of Object.entries(tokens))
    for (const method of reads) {
      const fields = Object.keys(AUTHORIZATION_MATRIX[method].input(NOBODY, "admin"));
      const named = [...fields, "limit"].filter((field) => field in world);
      const known = Object.fromEntries(named.map((field) => [field, Reflect.get(world, field)]));
      for (const surface of surfacesOf(method)) {
        const answer = await answerOf(server.url, askOf(surface, method, known), token);
        seen[`${method} over ${surface} as ${who}`] = answer.text;
        if (answer.text.includes('"tokenSet":true')) shown += 1;
      }
    }
  for (const path of ["/metrics", "/openapi.json"]) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    seen[path] = await (await fetch(`${server.url}${path}`, { headers })).text();
  }
  expectNowhere({ ...seen, log: lines.join("\n") });
  // The owner and the operator of the fleet are told that there is one.
  expect(shown).toBeGreaterThan(3);
  const outsider = Object.entries(seen).filter(([where]) => where.includes("another's"));
  for (const [where, text] of outsider)
    expect([where, text.includes("tokenSet")]).toEqual([where, false]);
});

const NOBODY = new Proxy({} as Parameters<(typeof AUTHORIZATION_MATRIX)["pools.get"]["input"]>[0], {
  get: (_, name) => (name === "tokens" ? {} : name === "setAside" ? {} : "x"),
});

it("is AES-256-GCM in the database, under the operator's key and for its pool alone; nothing else there is of it", async () => {
  const sealed = await sealedOf(fleet.poolId);
  expect(sealed).toHaveLength(12 + 16 + TOKEN.length);
  expect(opened(sealed, fleet.poolId)).toBe(TOKEN);
  expect(() => opened(sealed, other.poolId)).toThrow("unable to authenticate data");
  expect((await sealedOf(other.poolId)).equals(sealed)).toBe(false);
  expectNowhere({ "the database": await dumpOf(database) });
});

it("is in no error: of a policy that is refused, a version that is over, a server without the key", async () => {
  const { owner, poolId } = fleet;
  const ask = async (policy: unknown, more: object = {}) => {
    const asked = { tenantId: owner, poolId, policy, ...more };
    const answers = surfacesOf("pools.update").map((surface) =>
      answerOf(server.url, askOf(surface, "pools.update", asked), ADMIN_KEY),
    );
    return Promise.all(answers);
  };
  const errors = [
    ...(await ask({ kubernetes: { ...KUBERNETES, endpoint: 7 } })),
    ...(await ask({ kubernetes: { ...KUBERNETES, more: TOKEN } })),
    ...(await ask({ kubernetes: { ...KUBERNETES, token: [TOKEN] } })),
    ...(await ask({ kubernetes: { ...KUBERNETES, token: `${TOKEN}\n` } })),
    ...(await ask({ kubernetes: TOKEN })),
    ...(await ask({ kubernetes: KUBERNETES }, { tenantId: "t-a" })),
  ];
  expect(errors.filter(({ code }) => code === "OK")).toEqual([]);
  await server.stopServing();
  server = await start(null);
  const without = await ask({ kubernetes: KUBERNETES });
  expect(without.map(({ code }) => code)).toEqual(without.map(() => "INVALID_STATE"));
  expect(without[0]?.text).toContain("BERTH_SEAL_KEY");
  const all = [...errors, ...without].map(({ text }, n): [string, string] => [`error ${n}`, text]);
  expectNowhere({ ...Object.fromEntries(all), log: lines.join("\n") });
});

it("sealed with a key that the server has not is told at the start, by pool; all else goes on, and a new one can be set", async () => {
  lines.length = 0;
  await server.stopServing();
  server = await start(OTHER_KEY);
  const warning = lines.find((line) => line.includes("cluster tokens do not open")) ?? "{}";
  const both = [fleet.poolId, other.poolId].toSorted();
  expect(JSON.parse(warning)).toMatchObject({ level: 40, pools: 2, poolIds: both });
  const { owner: tenantId, poolId } = fleet;
  const ask = { tenantId, poolId };
  expect(await server.admin.pools.get(ask)).toMatchObject({
    policy: { kubernetes: { tokenSet: true } },
  });
  await server.admin.pools.update({ ...ask, policy: { kubernetes: KUBERNETES } });
  lines.length = 0;
  await server.stopServing();
  server = await start(OTHER_KEY);
  expect(lines.join("\n")).toContain(`"poolIds":["${other.poolId}"]`);
  lines.length = 0;
  await server.stopServing();
  server = await start(KEY);
  expect(lines.join("\n")).toContain(`"poolIds":["${poolId}"]`);
  expectNowhere({ "the database": await dumpOf(database) });
});
