/**
 * The contract as JSON Schema: what every generator walks. Anything that a generator does not know stops it,
 * so a new kind of schema is never printed wrongly.
 */
import { METHOD_NAMES, schemasOf } from "@berth/contract";
import type { MethodName } from "@berth/contract";
import { z } from "zod";

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "null" | "array" | "object";
  readonly enum?: readonly string[];
  readonly const?: string | number | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly description?: string;
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  /** The typed client makes one when it is absent. */
  readonly "x-client-fills"?: boolean;
}

const KNOWN = new Set([
  "$ref",
  "type",
  "enum",
  "const",
  "anyOf",
  "properties",
  "required",
  "additionalProperties",
  "propertyNames",
  "items",
  "description",
  "default",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "uniqueItems",
  "maxProperties",
  "x-client-fills",
]);

const REF = "#/components/schemas/";

export interface MethodSchema {
  readonly name: MethodName;
  readonly group: string;
  readonly method: string;
  /** Names of types. */
  readonly input: string;
  readonly output: string;
  /** The call needs no input. */
  readonly inputOptional: boolean;
}

export interface Wire {
  /** Every named schema, by name, sorted. */
  readonly types: ReadonlyMap<string, JsonSchema>;
  readonly methods: readonly MethodSchema[];
}

/** Reads the whole contract. */
export function readWire(): Wire {
  // Outputs have no defaults and no transforms, so the input side describes both directions.
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (id) => REF + id,
    io: "input",
    unrepresentable: "throw",
  });
  const types = new Map(
    Object.entries(schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, known(schema, name)] as const),
  );
  const methods = METHOD_NAMES.map((name) => {
    const [group = "", method = ""] = name.split(".");
    const { input, output } = schemasOf(name);
    const bare = input instanceof z.ZodDefault ? (input.unwrap() as z.ZodType) : input;
    return {
      name,
      group,
      method,
      input: nameOf(bare, `${name} input`),
      output: nameOf(output, `${name} output`),
      inputOptional: input instanceof z.ZodDefault,
    };
  });
  return { types, methods };
}

function nameOf(schema: z.ZodType, what: string): string {
  const id = schema.meta()?.id;
  if (!id) throw new Error(`${what} has no id: add .meta({ id })`);
  return id;
}

/** The schema without zod's own marks; throws at a keyword that no generator knows. */
function known(schema: object, where: string): JsonSchema {
  const entries = Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id");
  const clean = entries.map(([key, value]) => {
    if (!KNOWN.has(key)) throw new Error(`${where}: no generator knows the keyword ${key}`);
    if (key === "properties") {
      const fields = Object.entries(value as Record<string, object>);
      return [key, Object.fromEntries(fields.map(([k, v]) => [k, known(v, `${where}.${k}`)]))];
    }
    if (key === "anyOf") return [key, (value as object[]).map((v) => known(v, where))];
    if (key === "items" || key === "propertyNames")
      return [key, known(value as object, `${where}[]`)];
    if (key === "additionalProperties" && typeof value === "object")
      return [key, known(value as object, `${where}.*`)];
    return [key, value as unknown];
  });
  return Object.fromEntries(clean) as JsonSchema;
}

/** The name that a schema refers to, or undefined. */
export function refName(schema: JsonSchema): string | undefined {
  return schema.$ref?.slice(REF.length);
}

/** The schema itself, behind its reference; what is said beside the reference wins. */
export function resolve(wire: Wire, schema: JsonSchema): JsonSchema {
  const name = refName(schema);
  if (name === undefined) return schema;
  const target = wire.types.get(name);
  if (!target) throw new Error(`no type named ${name}`);
  const { $ref: _, ...beside } = schema;
  return { ...target, ...beside };
}

/** Names of all types that these reach, these included. */
export function reachable(wire: Wire, roots: Iterable<string>): Set<string> {
  const seen = new Set<string>();
  const visit = (schema: JsonSchema): void => {
    const name = refName(schema);
    if (name !== undefined) return enter(name);
    for (const part of schema.anyOf ?? []) visit(part);
    for (const part of Object.values(schema.properties ?? {})) visit(part);
    if (schema.items) visit(schema.items);
    if (typeof schema.additionalProperties === "object") visit(schema.additionalProperties);
  };
  const enter = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    visit(resolve(wire, { $ref: REF + name }));
  };
  for (const root of roots) enter(root);
  return seen;
}
