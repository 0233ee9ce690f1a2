/** A key is shown once, and what comes with calls is in no log line, whatever became of the call. */
import { type TestDatabase, testDatabase } from "@berth/db/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { METRICS, METRICS_TOKEN } from "../faults/together.ts";
import { ADMIN_KEY, type SpawnedServer, pool, spawnServer } from "../harness.ts";
import { dumpOf } from "./dump.ts";
import { SURFACES, answerOf, askOf, surfacesOf } from "./surfaces.ts";

let database: TestDatabase;
let server: SpawnedServer;
beforeAll(async () => {
  database = await testDatabase();
  const trace = { LOG_LEVEL: "trace", BERTH_SEAL_KEY: "5e".repeat(32), ...METRICS };
  server = await spawnServer(database.url, trace);
});
afterAll(async () => {
  await server.kill();
  await database.close();
});

const written = () => `${server.stdout()}\n${server.stderr()}`;
const secretOf = (text: string) => /berth_[0-9a-z]{26}_\w{38}/.exec(text)?.[0] ?? "";

/** Reads the tenant's stream from now on; the answer waits until this text was in it, and gives all of it. */
async function openStream(tenantId: string): Promise<(wanted: string) => Promise<string>> {
  const abort = new AbortController();
  const response = await fetch(`${server.url}/api/compute/events/stream?tenantId=${tenantId}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    signal: abort.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString("utf8");
  })().catch(() => undefined);
  return async (wanted) => {
    await expect.poll(() => text, { timeout: 20_000 }).toContain(wanted);
    abort.abort();
    await reading;
    return text;
  };
}

/** All that a fleet-admin may read of the tenant's keys, and what anybody may. */
async function everything(tenantId: string): Promise<Record<string, string>> {
  const seen: Record<string, string> = {};
  for (const [method, input] of [
    ["access.listKeys", { tenantId }],
    ["access.audit", { tenantId, limit: 200 }],
    ["events.list", { tenantId, limit: 200 }],
    ["access.whoami", {}],
  ] as const)
    for (const surface of surfacesOf(method)) {
      const answer = await answerOf(server.url, askOf(surface, method, input), ADMIN_KEY);
      seen[`${method} over ${surface}`] = `${answer.text}${JSON.stringify(answer.headers)}`;
      expect([method, answer.status]).toEqual([method, 200]);
    }
  for (const path of ["/metrics", "/openapi.json", "/config.json", "/healthz", "/readyz"]) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    seen[path] = await (await fetch(`${server.url}${path}`, { headers })).text();
  }
  seen["the log"] = written();
  seen["the database"] = await dumpOf(database);
  return seen;
}

it("a key is in the answer that makes it and nowhere else: lists, events, audit, metrics, errors, logs", async () => {
  const { actors } = server;
  await actors.token("t-once");
  const streamUntil = await openStream("t-once");
  const input = { tenantId: "t-once", role: "tenant-admin", name: "shown once" };
  const made: string[] = [];
  for (const surface of surfacesOf("access.createKey")) {
    const { text } = await answerOf(
      server.url,
      askOf(surface, "access.createKey", { ...input, name: `over ${surface}` }),
      ADMIN_KEY,
    );
    made.push(secretOf(text));
  }
  expect(made.every((secret) => secret.length === 71)).toBe(true);
  const errors: string[] = [];
  for (const secret of made) {
    // Used, misused and ended: each answer is of a call that came with the key itself.
    for (const [method, body] of [
      ["access.whoami", {}],
      ["access.createKey", { ...input, role: "fleet-admin" }],
      ["access.revokeKey", { keyId: "key_none" }],
      ["pools.get", { tenantId: "t-once", poolId: `pool_${"0".repeat(52)}` }],
      ["access.revokeKey", { keyId: `key_${secret.slice(6, 32)}` }],
      ["access.whoami", {}],
    ] as const)
      for (const surface of SURFACES.filter((each) => surfacesOf(method).includes(each))) {
        const answer = await answerOf(server.url, askOf(surface, method, body), secret);
        errors.push(`${answer.text}${JSON.stringify(answer.headers)}`);
      }
  }
  const stream = await streamUntil("key.revoked");
  const rest = await everything("t-once");
  const seen: Record<string, string> = { ...rest, stream, errors: errors.join("\n") };
  expect(stream).toContain("key.created");
  expect(seen["access.listKeys over HTTP"]).toContain("over tRPC");
  for (const [where, text] of Object.entries(seen))
    for (const secret of made) {
      expect([where, text.includes(secret)]).toEqual([where, false]);
      // Nor its secret without the rest.
      expect([where, text.includes(secret.slice(33, 65))]).toEqual([where, false]);
    }
});

describe("no log line, at the level `trace`, holds", () => {
  const CLUSTER_TOKEN = "cluster-token-canary-7f3c";
  const DATABASE_PASSWORD = () => new URL(database.url).password;

  it("a token, a cluster's token or the database's password, whatever becomes of the calls", async () => {
    const { actors } = server;
    const { poolId, owner } = await actors.fleet(pool(1, 2));
    const kubernetes = { endpoint: "https://k8s.test", token: CLUSTER_TOKEN, caHash: "sha256:0" };
    const policy = { kubernetes };
    const wrong = `berth_${"0".repeat(26)}_${"A".repeat(38)}`;
    for (const token of [ADMIN_KEY, wrong, "not-a-key-at-all-but-long-enough-to-be-one", null])
      for (const [method, input] of [
        ["pools.update", { tenantId: owner, poolId, version: 1, policy }],
        ["pools.update", { tenantId: owner, poolId, policy, extra: 1 }],
        ["pools.update", { tenantId: "nobody", poolId, version: 1, policy }],
        ["pools.update", { tenantId: owner, poolId, policy: { kubernetes: CLUSTER_TOKEN } }],
      ] as const)
        await actors.http(method, input, { token });
    // Not JSON, and cut in two: parsers quote what they do not understand.
    for (const raw of [`{"token":"${CLUSTER_TOKEN}"`, `${CLUSTER_TOKEN}`, `["${CLUSTER_TOKEN}"`])
      await actors.http("pools.update", null, { raw });
    const { secret } = await actors.admin.access.createKey({
      tenantId: owner,
      role: "tenant-admin",
      name: "logged",
    });
    await actors.http("pools.list", { tenantId: owner }, { token: secret });
    // The database ends every connection in the middle of it all.
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'berth%'`;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        actors.http("pools.list", { tenantId: owner }, { token: secret }),
      ),
    );
    const marker = crypto.randomUUID();
    await actors.http("access.whoami", {}, { headers: { "x-request-id": marker } });
    await expect.poll(written).toContain(marker);
    const entries = server.stdout().trim().split("\n");
    const calls = entries.map((line) => JSON.parse(line) as { msg: string; ms: number });
    expect(calls.some(({ msg, ms }) => msg === "call" && ms > 0)).toBe(true);
    const holds = [ADMIN_KEY, wrong, secret, secret.slice(33), CLUSTER_TOKEN, METRICS_TOKEN];
    for (const text of [...holds, "not-a-key-at-all", DATABASE_PASSWORD(), "5e".repeat(32)])
      expect([text.slice(0, 8), written().includes(text)]).toEqual([text.slice(0, 8), false]);
    expect(written()).not.toMatch(/bearer \S{20}|authorization/i);
  });
});
