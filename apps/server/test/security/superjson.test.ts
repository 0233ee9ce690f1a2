/** What superjson would build of a body: 5,000 hostile envelopes, each refused at once, with and without a key. */
import { afterAll, beforeAll, expect, it } from "vitest";
import fc from "fast-check";
import { ADMIN_KEY, type TestServer, pool, startServer } from "../harness.ts";

let server: TestServer;
let operator: string;
const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const membersOf = () => prototypes.map((each) => Reflect.ownKeys(each).map(String).toSorted());
const before = membersOf();
beforeAll(async () => {
  server = await startServer();
  operator = await server.token("t-a");
});
afterAll(() => server.stop());

const RUNS = Number(process.env["SUPERJSON_RUNS"] ?? 5_000);
const SEED = Number(process.env["BERTH_SEED"] ?? Date.now() % 1_000_000);

const step = fc.constantFrom(
  ...["a", "b", "json", "tenantId", "0", "-1", "5000000", "4294967294", "length", "__proto__"],
  ...["constructor", "prototype", "toString", "", "\\.", "a\\.b"],
);
const path = fc.array(step, { minLength: 1, maxLength: 12 }).map((steps) => steps.join("."));
const kind = fc.constantFrom(
  ...["undefined", "Date", "set", "map", "bigint", "regexp", "Error", "URL", "number", "symbol"],
);
const mark = fc.oneof(
  kind.map((name) => [name]),
  kind.map((name) => [name, { a: ["undefined"] }]),
  fc.constant([["class", "Object"]]),
  fc.constant([["typed-array", "Uint8Array"]]),
  fc.constant([["custom", "x"]]),
  fc.jsonValue({ maxDepth: 3 }),
);
const values = fc.oneof(
  fc.dictionary(path, mark, { maxKeys: 30 }),
  mark,
  fc.constant(Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`a.${n}`, ["set"]]))),
);
const json = fc.oneof(
  { weight: 5, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 3, arbitrary: fc.constant({ tenantId: "t-a", a: [], b: {} }) },
  { weight: 1, arbitrary: fc.constant({ a: Array.from({ length: 4_000 }, (_, n) => n), b: {} }) },
  { weight: 1, arbitrary: fc.constant({ a: "9".repeat(20_000), b: "/(a+)+$/" }) },
);
const references = fc.oneof(
  fc.dictionary(path, fc.array(path, { maxLength: 20 }), { maxKeys: 10 }),
  fc.constant({ b: Array.from({ length: 4_000 }, (_, n) => `a.${3_999 - n}`) }),
  fc.constant([["a"], { b: ["a"] }]),
);
const envelope = fc.record(
  {
    json,
    meta: fc.record(
      { values, referentialEqualities: references, v: fc.constant(1) },
      {
        requiredKeys: [],
      },
    ),
  },
  { requiredKeys: ["json"] },
);

const METHODS = [
  "pools.list",
  "capacity.preview",
  "reservations.create",
  "fleet.putNodes",
] as const;

it(`${RUNS} of them, and none is taken for what it is not, makes work, or ends the server`, async () => {
  const bodies = fc.sample(envelope, { numRuns: RUNS, seed: SEED });
  let slowest = 0;
  const codes = new Map<number, number>();
  const wrong: string[] = [];
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < bodies.length; at = next++) {
      const body = JSON.stringify(bodies[at]);
      const token = at % 3 === 0 ? null : operator;
      const started = performance.now();
      const response = await fetch(`${server.url}/trpc/${METHODS[at % METHODS.length]}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
        body,
      });
      await response.arrayBuffer();
      slowest = Math.max(slowest, performance.now() - started);
      codes.set(response.status, (codes.get(response.status) ?? 0) + 1);
      // Who keeps coming without a key is told to stop; who has one is not.
      const expected = token === null ? [401, 429] : [200, 400, 403, 404];
      if (!expected.includes(response.status))
        wrong.push(`${response.status}: ${body.slice(0, 300)}`);
    }
  };
  // Two at a time: the time of one is then its own, and not that of a queue.
  await Promise.all([lane(), lane()]);
  process.stdout.write(
    `superjson: ${RUNS} envelopes, ${[...codes].map(([code, n]) => `${n} × ${code}`).join(", ")}, slowest ${slowest.toFixed(0)} ms, BERTH_SEED=${SEED}\n`,
  );
  expect(wrong).toEqual([]);
  // Read by superjson itself, the worst of them take many seconds; a busy machine takes no such time for one.
  expect(slowest).toBeLessThan(2_000);
  expect((await server.http("access.whoami", {})).status).toBe(200);
  expect(membersOf()).toEqual(before);
}, 600_000);

const ODD = ["constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

it("a name out of a prototype is data where names are free, and leads to nothing where they are not", async () => {
  const { poolId } = await server.fleet(pool(1, 4));
  const { body: offered } = await server.http("pools.offer", {
    tenantId: "t-own",
    poolId,
    toTenantId: "t-a",
    quota: Object.fromEntries(["gpu", ...ODD].map((name) => [name, 3])),
  });
  for (const name of ODD) expect([name, Object.hasOwn(offered, name)]).toEqual([name, false]);
  const { body: stored } = await server.http("pools.get", { tenantId: "t-own", poolId });
  expect(JSON.stringify(stored)).not.toContain("native code");

  for (const name of [...ODD, "__proto__", "prototype"]) {
    for (const path of [`/api/compute/pools/${name}`, `/api/compute/${name}/list`]) {
      const answer = await fetch(server.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
        body: "{}",
      });
      expect(answer.status).toBe(404);
    }
    const input = `{"tenantId":"t-a","${name}":{"isAdmin":true}}`;
    expect((await server.http("pools.list", null, { raw: input })).status).toBe(400);
  }
  const batch = `{"0":{"json":{"tenantId":"t-a"}},"constructor":{"json":{}},"__proto__":{"json":{}}}`;
  const batched = await fetch(`${server.url}/trpc/pools.list,pools.list?batch=1`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator}`, "content-type": "application/json" },
    body: batch,
  });
  expect(batched.status).toBe(400);
  expect(membersOf()).toEqual(before);
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});
