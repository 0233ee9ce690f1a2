/** Free text is kept as it was given, whatever it looks like to a database, a log or a browser. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, type TestServer, node, pool, startServer } from "../../harness.ts";
import { NOW } from "./marks.ts";
import { type Schema, operationsOf, plainOf, readDocument, solid } from "./openapi.ts";

let server: TestServer;
let fleet: Fleet;
beforeAll(async () => {
  server = await startServer({ clock: NOW });
  fleet = await server.fleet(
    pool(1, 2, {
      nodes: [
        {
          ...node("n", 2),
          gpus: [0, 1].map((at) => ({ uuid: `G-${at}`, index: at, model: "H100", vfioGroup: "1" })),
        },
      ],
    }),
  );
});
afterAll(() => server.stop());

let made = 0;
/** Another one each time, so that what comes back is this one and not its neighbour. */
const text = (): string =>
  `' " \\ ; -- $1 % $$ /* ');drop table pools;-- {"a":1} <b> \${x} 機😀 ${made++}`;

type Input = Readonly<Record<string, unknown>>;
/** Sends each text of `input`, then looks for all of them in what `read` answers. */
async function kept(
  method: string,
  input: Input,
  read: (made: Input) => readonly [string, Input],
): Promise<void> {
  const answer = await server.http(method, input);
  expect(answer.status, `${method}: ${JSON.stringify(answer.body)}`).toBe(200);
  const [reader, ask] = read(answer.body);
  const seen = await server.http(reader, ask);
  const all = textsIn(seen.body);
  for (const given of textsIn(input)) {
    if (given.includes("drop table")) expect(all, `${method} → ${reader}`).toContain(given);
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsIn(part)]);
}

const CALLS: Readonly<
  Record<string, () => readonly [Input, (made: Input) => readonly [string, Input]]>
> = {
  "fleet.putTenant": () => [{ tenantId: "t-text", name: text() }, () => ["fleet.listTenants", {}]],
  "fleet.putProviderAccount": () => [
    { tenantId: "t-own", name: text(), kind: text() },
    // Answered as it was put; the same name and kind are the same account.
    () => [
      "fleet.putProviderAccount",
      { tenantId: "t-own", name: account.name, kind: account.kind },
    ],
  ],
  "fleet.putSite": () => [
    { tenantId: "t-own", name: text(), region: text() },
    () => ["fleet.listSites", { tenantId: "t-own" }],
  ],
  "fleet.putNodes": () => [
    {
      siteId: fleet.siteId,
      nodes: [
        {
          name: text(),
          address: text(),
          labels: { [text()]: text() },
          gpus: [
            { uuid: text(), index: 0, model: text(), nvlinkDomain: text(), vfioGroup: short() },
          ],
        },
      ],
    },
    ({ nodes }) => [
      "fleet.getNode",
      { tenantId: "t-own", nodeId: (nodes as { id: string }[])[0]?.id },
    ],
  ],
  "pools.create": () => [
    {
      tenantId: "t-own",
      siteId: fleet.siteId,
      class: "metal-host",
      policy: { label: text(), kernelModules: [text()], prewarmImages: [text(), text()] },
    },
    ({ id }) => ["pools.get", { tenantId: "t-own", poolId: id }],
  ],
  "pools.update": () => [
    {
      tenantId: "t-own",
      poolId: fleet.poolId,
      policy: { label: text(), kernelModules: [text()], prewarmImages: [text()] },
    },
    ({ id }) => ["pools.get", { tenantId: "t-own", poolId: id }],
  ],
  "reservations.create": () => [
    {
      tenantId: "t-a",
      poolId: fleet.poolId,
      devices: [{ class: "gpu", count: 1, selector: {} }],
      duration: "1h",
      idempotencyKey: "text",
    },
    ({ id }) => ["reservations.get", { tenantId: "t-a", reservationId: id }],
  ],
  "reservations.terminate": () => [
    { tenantId: "t-a", reservationId: booked, reason: text() },
    ({ id }) => ["reservations.get", { tenantId: "t-a", reservationId: id }],
  ],
  "unitReservations.create": () => [
    {
      nodeId: fleet.nodeIds[0],
      unitIds: [unit],
      allowedOrgIds: ["t-a"],
      reason: text(),
      contractRef: text(),
    },
    ({ id, nodeId }) => ["unitReservations.get", { nodeId, reservationId: id }],
  ],
  "access.createKey": () => [
    { tenantId: "t-a", role: "tenant-viewer", name: text() },
    () => ["access.listKeys", { tenantId: "t-a" }],
  ],
};
const account = { name: "", kind: "" };
let booked = "";
let unit = "";
/** Of at most 64 characters. */
const short = (): string => `' " \\ ; -- $1 % drop table ${made++}`;

/** Texts of these are looked for among what there is, and kept nowhere. */
const ASKED = new Set(["capacity.preview", "reservations.quote"]);

it("every free text of every method is kept as it was given", async () => {
  const { units } = await server.admin.fleet.getNode({
    tenantId: "t-own",
    nodeId: fleet.nodeIds[0] ?? "",
  });
  unit = units[0]?.id ?? "";
  const { id } = await server.admin.reservations.create({
    tenantId: "t-a",
    poolId: fleet.poolId,
    devices: [{ class: "gpu", count: 1 }],
    duration: "1h",
  });
  booked = id;
  for (const [method, call] of Object.entries(CALLS)) {
    const [input, read] = call();
    Object.assign(account, { name: input["name"], kind: input["kind"] });
    await kept(method, input, read);
  }
  await server.expectHealthy();
});

it("a text that is asked for is compared, and is no part of the question", async () => {
  const ask = (selector: object, gang?: object) =>
    server.http("capacity.preview", {
      tenantId: "t-a",
      poolId: fleet.poolId,
      devices: [{ class: "gpu", count: 1, selector }],
      duration: "1h",
      idempotencyKey: "p",
      ...(gang ? { gang } : {}),
    });
  for (const { status, body } of [
    await ask({ model: "H100' or '1'='1" }),
    await ask({ labels: { "rack' --": "%" } }),
    await ask({}, { size: 2, topologyKey: "a'; --" }),
  ])
    expect({ status, fits: body["fits"] }).toEqual({ status: 200, fits: false });
});

it("no method has a free text that this file does not know of", async () => {
  const document = await readDocument(server.url);
  const hasText = (raw: Schema, seen = new Set<Schema>()): boolean => {
    if (seen.has(raw)) return false;
    seen.add(raw);
    const schema = solid<Schema>(document, raw);
    if (schema.pattern?.includes("\\u0000") === true) return true;
    const { properties = {}, anyOf = [], items, additionalProperties, propertyNames } = schema;
    const parts = [
      ...Object.values(properties),
      ...anyOf,
      items,
      additionalProperties,
      propertyNames,
    ];
    return parts.some((part) => typeof part === "object" && hasText(part, seen));
  };
  const methods = plainOf(operationsOf(document))
    .filter(({ input }) => hasText(input))
    .map(({ method }) => method);
  expect(methods.filter((method) => !(method in CALLS) && !ASKED.has(method))).toEqual([]);
});
