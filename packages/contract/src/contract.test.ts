import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  ERROR_CODES,
  METHOD_NAMES,
  catalog,
  contract,
  errors,
  parseInput,
  schemasOf,
} from "./index.ts";
import { goodRequest } from "./testing/index.ts";

type Node = {
  [key: string]: unknown;
  type?: string;
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  propertyNames?: Node;
  items?: Node;
  anyOf?: Node[];
};

/** Where a free-form value is meant: what an event tells, and a plan as it is now. */
const FREE = new Set(["Event.data.*", "UpdatedPoolEventData.policy.*", "ConflictDetails.plan"]);

/** Everything in a schema that has no limit, by path. */
function unlimited(node: Node, path: string, isInput: boolean): string[] {
  const found: string[] = [];
  const need = (holds: boolean, what: string): void => {
    if (!holds) found.push(`${path}: ${what}`);
  };
  if (node.type === "string")
    need("maxLength" in node || "enum" in node || "const" in node, "a string's length");
  if (node.type === "array") need("maxItems" in node, "a list's entries");
  if (node.type === "integer" || node.type === "number")
    need("maximum" in node && "minimum" in node, "a number");
  if (node.type === "object") {
    const isMap = typeof node.additionalProperties === "object";
    if (isMap)
      need("maxProperties" in node && "maxLength" in (node.propertyNames ?? {}), "a map's keys");
    else if (isInput) need(node.additionalProperties === false, "fields that it does not know");
  }
  const known = ["type", "anyOf", "enum", "const", "$ref"].some((key) => key in node);
  need(known || FREE.has(path), "anything at all");
  const parts: [string, Node][] = [
    ...Object.entries(node.properties ?? {}).map(([key, part]): [string, Node] => [
      `${path}.${key}`,
      part,
    ]),
    ...(node.items ? [[`${path}[]`, node.items] as [string, Node]] : []),
    ...(typeof node.additionalProperties === "object"
      ? [[`${path}.*`, node.additionalProperties] as [string, Node]]
      : []),
    ...(node.anyOf ?? []).map((part): [string, Node] => [path, part]),
  ];
  for (const [where, part] of parts) found.push(...unlimited(part, where, isInput));
  return found;
}

/** Fields without a description, by path. */
function undescribed(node: Node, path: string): string[] {
  return Object.entries(node.properties ?? {})
    .filter(([, part]) => !("description" in part) && !("$ref" in part))
    .map(([key]) => `${path}.${key}`);
}

const named = Object.entries(
  z.toJSONSchema(z.globalRegistry, { io: "input", uri: (id) => id, unrepresentable: "throw" })
    .schemas,
) as [string, Node][];

/** Names of types that inputs reach. */
function reach(name: string, seen: Set<string>): void {
  if (seen.has(name)) return;
  seen.add(name);
  const schema = named.find(([id]) => id === name)?.[1];
  for (const match of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g))
    reach(match[1] ?? "", seen);
}
const inputTypes = new Set<string>();
for (const method of METHOD_NAMES) {
  const { input } = schemasOf(method);
  const bare = input instanceof z.ZodDefault ? (input.unwrap() as z.ZodType) : input;
  reach(String(bare.meta()?.id), inputTypes);
}

describe("the contract", () => {
  it("limits every list, map, string and number, and closes every input object", () => {
    expect(named.length).toBeGreaterThan(100);
    const found = named.flatMap(([name, schema]) => unlimited(schema, name, inputTypes.has(name)));
    expect(found).toEqual([]);
  });

  it("finds what has no limit", () => {
    const open = z.toJSONSchema(
      z.object({
        a: z.string(),
        b: z.array(z.int()),
        c: z.record(z.string(), z.any()),
        d: z.number(),
      }),
      { io: "input" },
    ) as Node;
    expect(unlimited(open, "X", true)).toEqual([
      "X: fields that it does not know",
      "X.a: a string's length",
      "X.b: a list's entries",
      "X.c: a map's keys",
      "X.c.*: anything at all",
      "X.d: a number",
    ]);
  });

  it("describes every field and every type", () => {
    expect(named.flatMap(([name, schema]) => undescribed(schema, name))).toEqual([]);
    expect(named.filter(([, schema]) => !schema["description"]).map(([name]) => name)).toEqual([]);
  });

  it("has a catalog row for every method and a method for every row", () => {
    const methods = Object.entries(contract).flatMap(([group, all]) =>
      Object.keys(all).map((method) => `${group}.${method}`),
    );
    expect(Object.keys(catalog).toSorted()).toEqual(methods.toSorted());
    expect(methods).toHaveLength(48);
  });

  it("decides every method but those about the caller as an action", () => {
    const open = METHOD_NAMES.filter((name) => catalog[name].resource === "none");
    expect(open).toEqual(["fleet.listTenants", "access.whoami"]);
    for (const name of METHOD_NAMES) {
      const row = catalog[name];
      expect(row.action === "none", name).toBe(row.resource === "none");
      expect(row.summary, name).not.toMatch(/\.$/);
    }
  });

  it("says what the seeds say of who may call", () => {
    const said = (group: string): string[] =>
      METHOD_NAMES.filter((name) => name.startsWith(`${group}.`)).map((name) => {
        const row = catalog[name];
        const also = row.alternative ? ` or ${row.alternative.resource}` : "";
        return `${name} ${row.kind} ${row.action} @ ${row.resource}${row.items ? " + items" : ""}${also} ${row.module} ${row.phase}`;
      });
    expect([...said("capacity"), ...said("pools")]).toEqual([
      "capacity.summary read compute:capacity:read @ compute-tenant capacity v0.1",
      "capacity.byPool read compute:capacity:read @ compute-pool capacity v0.2",
      "capacity.preview read compute:capacity:read @ compute-pool capacity v0.2",
      "capacity.timeline read compute:capacity:read @ compute-pool capacity v0.2",
      "pools.list read compute:pools:read @ compute-tenant + items capacity v0.1",
      "pools.get read compute:pools:read @ compute-pool capacity v0.1",
      "pools.create mutation compute:pools:create @ compute-fleet or compute-tenant capacity v0.1",
      "pools.capacity read compute:capacity:read @ compute-pool capacity v0.1",
      "pools.offer mutation compute:pools:share @ compute-pool capacity v0.1",
      "pools.unoffer mutation compute:pools:share @ compute-pool capacity v0.1",
      "pools.update mutation compute:pools:manage @ compute-pool capacity v0.2",
      "pools.archive mutation compute:pools:manage @ compute-pool capacity v0.2",
    ]);
  });

  it("takes the same request for create and preview", () => {
    expect(contract.reservations.create.input).toBe(contract.capacity.preview.input);
  });
});

describe("the errors", () => {
  it("keep their status, their tRPC name and whether to retry", () => {
    expect(
      ERROR_CODES.map((code) => [
        code,
        errors[code].http,
        errors[code].trpc,
        errors[code].retryable,
      ]),
    ).toEqual([
      ["INVALID_INPUT", 400, "BAD_REQUEST", false],
      ["UNAUTHENTICATED", 401, "UNAUTHORIZED", false],
      ["FORBIDDEN", 403, "FORBIDDEN", false],
      ["NOT_FOUND", 404, "NOT_FOUND", false],
      ["CONFLICT", 409, "CONFLICT", false],
      ["NO_CAPACITY", 409, "CONFLICT", false],
      ["QUOTA_EXCEEDED", 409, "CONFLICT", false],
      ["CURSOR_EXPIRED", 410, "PRECONDITION_FAILED", false],
      ["INVALID_STATE", 412, "PRECONDITION_FAILED", false],
      ["TOO_LARGE", 413, "PAYLOAD_TOO_LARGE", false],
      ["RATE_LIMITED", 429, "TOO_MANY_REQUESTS", true],
      ["UNAVAILABLE", 503, "SERVICE_UNAVAILABLE", true],
      ["INTERNAL", 500, "INTERNAL_SERVER_ERROR", false],
    ]);
  });
});

describe("what is wrong with an input", () => {
  it("is said field by field, and an unknown field is named", () => {
    const parsed = parseInput("reservations.create", {
      ...goodRequest("capacity.preview"),
      tenantId: undefined,
      devices: [{ class: "gpux", count: 0, cuont: 2 }],
      duration: true,
      leaseSeconds: 5,
      resources: 5,
      unknown: 1,
    });
    expect(parsed).toEqual({
      ok: false,
      issues: [
        { path: ["tenantId"], message: "is missing" },
        {
          path: ["devices", 0, "class"],
          message: "must be one of gpu, gpu.mig, gpu.slot, nic.vf, disk, node",
        },
        { path: ["devices", 0, "count"], message: "must be at least 1" },
        { path: ["devices", 0, "cuont"], message: "is not a field of this request" },
        { path: ["duration"], message: "must be a string or an integer of milliseconds" },
        { path: ["resources"], message: "must be an object" },
        { path: ["leaseSeconds"], message: "must be at least 30" },
        { path: ["unknown"], message: "is not a field of this request" },
      ],
    });
  });

  it("is a refusal for every method that is given nothing, a list, a text or a prototype", () => {
    for (const method of METHOD_NAMES) {
      for (const raw of [
        null,
        [],
        "x",
        1,
        JSON.parse('{"__proto__":{"tenantId":"a"}}') as unknown,
      ]) {
        expect(parseInput(method, raw).ok, `${method} ${JSON.stringify(raw)}`).toBe(false);
      }
    }
  });

  it("is at most 50 issues, however much is wrong", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${i}`, i]));
    const parsed = parseInput("access.whoami", many);
    expect(parsed.ok ? 0 : parsed.issues.length).toBe(50);
  });

  it("says which of two fields an update needs", () => {
    const { tenantId, poolId } = goodRequest("pools.get");
    expect(parseInput("pools.update", { tenantId, poolId })).toEqual({
      ok: false,
      issues: [{ path: ["policy"], message: "give policy, gpuModel or both" }],
    });
  });

  it("refuses a node named twice and more devices than one call may write", () => {
    const siteId = `site_${"0".repeat(26)}`;
    expect(parseInput("fleet.putNodes", { siteId, nodes: [{ name: "a" }, { name: "a" }] })).toEqual(
      {
        ok: false,
        issues: [{ path: ["nodes", 1, "name"], message: "names a node twice" }],
      },
    );
    const nics = Array.from({ length: 64 }, (_, i) => ({ name: `n${i}`, vfs: 256 }));
    const parsed = parseInput("fleet.putNodes", {
      siteId,
      nodes: [
        { name: "a", nics },
        { name: "b", nics },
      ],
    });
    expect(parsed).toMatchObject({ ok: false, issues: [{ path: ["nodes"] }] });
  });

  it("takes no body where there is nothing to say", () => {
    expect(parseInput("access.whoami", undefined)).toEqual({ ok: true, value: {} });
    expect(parseInput("fleet.listTenants", {})).toEqual({ ok: true, value: {} });
  });
});
