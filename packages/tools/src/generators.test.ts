import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BerthApi, Event, EventData } from "@berth/client";
import { METHOD_NAMES, REST_ROUTES } from "@berth/contract";
import type { MethodName, Output, RawInput, eventData } from "@berth/contract";
import { BOUNDARIES } from "@berth/contract/testing";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { generateApi } from "./gen-api.ts";
import { generateConstraints } from "./gen-constraints.ts";
import { generateOpenapi } from "./gen-openapi.ts";
import { generated, staleFiles } from "./generate.ts";
import { pageOf } from "./wire-pages.ts";
import { fieldsOf } from "./wire-fields.ts";
import { readWire } from "./wire-schema.ts";
import type { JsonSchema, Wire } from "./wire-schema.ts";

/** The client's function of a method. */
type Call<M extends MethodName> = M extends `${infer G extends keyof BerthApi}.${infer N}`
  ? N extends keyof BerthApi[G]
    ? Extract<BerthApi[G][N], (...args: never[]) => unknown>
    : never
  : never;
/** The client makes keys: on its side they are optional. */
type Keyless<T> = Omit<T, "idempotencyKey"> & {
  [K in Extract<keyof T, "idempotencyKey">]?: string | undefined;
};
/** Words as texts: answers leave lists of words open, and the generator prints the words from the schema. */
type Words<T> = T extends string
  ? string
  : T extends readonly (infer E)[]
    ? Words<E>[]
    : T extends object
      ? { [K in keyof T]: Words<T[K]> }
      : T;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type InputDrift = {
  [M in MethodName]: Same<
    Keyless<NonNullable<Parameters<Call<M>>[0]>>,
    Keyless<NonNullable<RawInput<M>>>
  > extends true
    ? never
    : M;
}[MethodName];
/** The client tells events apart by type; the contract takes them as they are stored. */
type Telling = "events.list" | "reservations.watch";
type OutputDrift = {
  [M in Exclude<MethodName, Telling>]: Same<
    Words<Awaited<ReturnType<Call<M>>>>,
    Words<Output<M>>
  > extends true
    ? never
    : M;
}[Exclude<MethodName, Telling>];
type StoredEvent = Output<"reservations.watch">;
type EventDrift = {
  [T in StoredEvent["type"]]: Same<
    Words<EventData[T]>,
    Words<z.input<(typeof eventData)[T]>>
  > extends true
    ? never
    : T;
}[StoredEvent["type"]];
type CommonDrift = Exclude<
  keyof StoredEvent,
  Same<Omit<Event, "data">, Omit<StoredEvent, "data">> extends true ? keyof StoredEvent : never
>;

/** Compiles only while no method's printed types differ from the contract's: an error names the method. */
const drift: {
  inputs: InputDrift[];
  outputs: OutputDrift[];
  events: EventDrift[];
  common: CommonDrift[];
} = { inputs: [], outputs: [], events: [], common: [] };
const noInput: never[] = drift.inputs;
const noOutput: never[] = drift.outputs;
const noEvent: never[] = drift.events;
const noCommon: never[] = drift.common;

/** The wire with one type more, which a method takes. */
function withType(schema: JsonSchema): Wire {
  const wire = readWire();
  return { ...wire, types: new Map([...wire.types, ["TenantRef", schema]]) };
}

describe("the client's interfaces", () => {
  it("are the contract's types, method by method", () => {
    // The guarantee is the compiler's; these lists cannot hold anything.
    expect([...noInput, ...noOutput, ...noEvent, ...noCommon]).toEqual([]);
  });

  it("hold no any and import nothing but the options of a call and what it answers", () => {
    const code = generateApi(readWire())
      .text.replaceAll(/\/\*[^]*?\*\//g, "")
      .replaceAll(/"[^"]*"/g, '""');
    expect(code).not.toMatch(/\bany\b/);
    expect(code.match(/^import .*$/gm)).toEqual([
      'import type { CallOptions, WatchOptions } from "";',
      'import type { BerthList, BerthPromise } from "";',
    ]);
    expect(code.length).toBeGreaterThan(10_000);
  });

  it("leave words open in what is answered, and closed in what is asked", () => {
    const code = generateApi(readWire()).text;
    const of = (name: string): string =>
      new RegExp(`^export interface ${name} \\{\n([^]*?)^\\}`, "m").exec(code)?.[1] ?? "";
    expect(of("Reservation")).toContain("  state: Open<ReservationState>;");
    expect(of("Reason")).toContain("  code: Open<Cause>;");
    expect(of("ListReservationsInput")).toContain("  state?: ReservationState[] | undefined;");
    // What is asked and answered alike is closed: it can be sent again.
    expect(of("DeviceLine")).toContain("  class: DeviceClass;");
    expect(code).not.toMatch(/Input \{[^}]*Open</);
  });

  it("make a list of every method that answers in pages", () => {
    const wire = readWire();
    const paged = wire.methods.filter((method) => pageOf(wire, method)).map(({ name }) => name);
    expect(paged.toSorted()).toEqual([
      "access.audit",
      "events.list",
      "fleet.listNodes",
      "reservations.list",
      "unitReservations.list",
    ]);
    const code = generateApi(wire).text;
    expect(code.match(/: BerthList</g)).toHaveLength(paged.length);
    const [first] = wire.methods;
    if (!first) throw new Error("there are no methods");
    const twice = { type: "array", items: { $ref: "#/components/schemas/Reservation" } } as const;
    const properties = { nextCursor: { type: "string" }, a: twice, b: twice } as const;
    const torn = { ...wire, types: new Map([...wire.types, [first.output, { properties }]]) };
    expect(() => pageOf(torn, first)).toThrow("a page needs one list of a named type");
  });

  it("stop at a schema that they cannot print", () => {
    const field = (schema: JsonSchema): Wire =>
      withType({ type: "object", properties: { x: schema }, additionalProperties: false });
    expect(() => generateApi(field({ type: "object" }))).toThrow(
      "TenantRef.x: an object needs a name",
    );
    expect(() => generateApi(field({ type: "array" }))).toThrow("TenantRef.x: a list of what?");
    expect(() => generateApi(field({ minimum: 1 }))).toThrow("TenantRef.x: cannot print");
  });
});

describe("the constraints table", () => {
  const first = BOUNDARIES[0];

  it("stops when a rule has no case", () => {
    expect(() => generateConstraints(readWire(), BOUNDARIES.slice(1))).toThrow(
      "no case in packages/contract/src/testing for the rule: capacity.summary tenantId required",
    );
  });

  it("stops when a case has no rule", () => {
    if (!first) throw new Error("there are no cases");
    const invented = { ...first, constraint: "at most 7 characters" };
    expect(() => generateConstraints(readWire(), [...BOUNDARIES, invented])).toThrow(
      "no schema has the rule of the case: capacity.summary tenantId at most 7 characters",
    );
  });

  it("stops when a schema's limit moves", () => {
    const wire = readWire();
    const line = wire.types.get("DeviceLine");
    const moved = {
      ...line,
      properties: { ...line?.properties, count: { type: "integer", minimum: 1, maximum: 65 } },
    } as JsonSchema;
    const types = new Map([...wire.types, ["DeviceLine", moved]]);
    expect(() => generateConstraints({ ...wire, types })).toThrow(
      "capacity.preview devices[].count 1-65",
    );
  });
});

describe("the reference", () => {
  it("lists the fields of a request as the method tables do", () => {
    const fields = fieldsOf(readWire(), "BookingRequest").map(
      ({ field, type, required, constraints }) =>
        `${field} | ${type} | ${required ? "yes" : ""} | ${constraints.join("; ")}`,
    );
    expect(fields).toContain("devices | list of object | yes | 1-8 items");
    expect(fields).toContain("devices[].count | integer | yes | 1-64");
    expect(fields).toContain("start | integer |  | 0-140737488355328");
    expect(fields).toContain('binding | one of hold, node |  | default "hold"');
    expect(fields).toContain("node.profileVersion | integer |  | at least 1");
    expect(fields).toContain(
      "projectId | string |  | at most 56 characters; matches ^prj_[0-9a-hjkmnp-tv-z]{26,52}$",
    );
  });
});

describe("the OpenAPI document", () => {
  const document = JSON.parse(generateOpenapi(readWire()).text) as {
    paths: Record<string, Record<"post" | "get", { operationId: string; responses: object }>>;
    components: Record<string, Record<string, unknown>>;
  };

  it("has every method once, those with a path of their own once more, with their errors as problem+json", () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);
    const rest = REST_ROUTES.map(({ method }) => `${method}.rest`);
    const all = [...METHOD_NAMES, ...rest];
    expect(ids.toSorted()).toEqual(all.toSorted());
    for (const { operationId, responses } of operations) {
      expect(Object.keys(responses)).toEqual([
        operationId === "unitReservations.create.rest" ? "201" : "200",
        "400",
        "401",
        "403",
        "404",
        "409",
        "410",
        "412",
        "413",
        "429",
        "500",
        "503",
      ]);
    }
    expect(JSON.stringify(document.components["responses"])).toContain("application/problem+json");
  });

  it("requires no key in a body that may leave it to the header, and changes nothing else of it", () => {
    const wire = readWire();
    const told = document.components["schemas"] as Record<string, JsonSchema>;
    const needed = [...wire.types].filter(([, type]) => type.required?.includes("idempotencyKey"));
    expect(needed.map(([name]) => name)).toEqual(["BookingRequest", "QuoteRequest"]);
    for (const [name, { properties, required }] of needed) {
      const body = told[name];
      expect(body?.required).toEqual(required?.filter((field) => field !== "idempotencyKey"));
      expect(Object.keys(body?.properties ?? {})).toEqual(Object.keys(properties ?? {}));
      expect(body?.properties?.["idempotencyKey"]?.description).toMatch(
        /Needed here or as the header `Idempotency-Key`: neither.* is INVALID_INPUT/,
      );
    }
  });

  it("refers to nothing that it does not hold", () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    expect(refs.length).toBeGreaterThan(200);
    const missing = refs.filter(
      ([, kind = "", name = ""]) => document.components[kind]?.[name] === undefined,
    );
    expect(missing.map(([ref]) => ref)).toEqual([]);
  });
});

describe("generate --check", () => {
  it("names every file that is missing or differs, and no other", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "berth-generated-"));
    try {
      const files = await generated();
      expect(await staleFiles(folder)).toEqual(files.map((file) => file.path));
      for (const file of files) {
        await mkdir(path.dirname(path.join(folder, file.path)), { recursive: true });
        await writeFile(path.join(folder, file.path), file.text);
      }
      expect(await staleFiles(folder)).toEqual([]);
      const [one] = files;
      if (!one) throw new Error("nothing is generated");
      await writeFile(path.join(folder, one.path), `${one.text} `);
      expect(await staleFiles(folder)).toEqual([one.path]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
