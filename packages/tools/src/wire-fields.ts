/** A type's fields as the reference lists them: `devices[].class`, its type, whether required, its rules. */
import type { JsonSchema, Wire } from "./wire-schema.ts";
import { resolve } from "./wire-schema.ts";

export interface Field {
  /** `devices[].class`; a map's values are `quota.*`, a list's entries `kernelModules[]`. */
  readonly field: string;
  readonly type: string;
  readonly required: boolean;
  /** Canonical texts, one a rule: `1-64`, `at most 128 characters`, `matches ^…$`, `default "hold"`. */
  readonly constraints: readonly string[];
  readonly description: string;
}

/** All fields of a named type, depth first, in the order of the schema. */
export function fieldsOf(wire: Wire, type: string): Field[] {
  const schema = wire.types.get(type);
  if (!schema) throw new Error(`no type named ${type}`);
  return within(wire, schema, "");
}

function within(wire: Wire, raw: JsonSchema, path: string): Field[] {
  const schema = solid(wire, raw);
  if (schema.properties) {
    const required = new Set(schema.required);
    return Object.entries(schema.properties).flatMap(([name, part]) => {
      const field = path ? `${path}.${name}` : name;
      return [
        row(wire, part, { field, required: required.has(name) }),
        ...within(wire, part, field),
      ];
    });
  }
  const [inner, suffix] = schema.items
    ? [schema.items, "[]"]
    : typeof schema.additionalProperties === "object"
      ? [schema.additionalProperties, ".*"]
      : [undefined, ""];
  if (!inner) return [];
  const field = path + suffix;
  const deeper = within(wire, inner, field);
  const target = solid(wire, inner);
  // An entry that is an object shows through its fields; any other entry has a row for its own rules.
  return target.properties ? deeper : [row(wire, inner, { field, required: true }), ...deeper];
}

function row(wire: Wire, raw: JsonSchema, at: { field: string; required: boolean }): Field {
  const schema = solid(wire, raw);
  return {
    ...at,
    type: typeText(wire, raw),
    constraints: constraintsOf(schema),
    description: raw.description ?? schema.description ?? "",
  };
}

/** Behind the reference, and behind `or null`. */
function solid(wire: Wire, raw: JsonSchema): JsonSchema {
  const schema = resolve(wire, raw);
  const parts = schema.anyOf?.filter((part) => part.type !== "null") ?? [];
  const [only] = parts;
  if (parts.length !== 1 || !only) return schema;
  const { anyOf: _, ...beside } = schema;
  return { ...solid(wire, only), ...beside };
}

/** The type in words, as in the tables: `list of object`, `one of a, b`, `map of integer`, `integer or null`. */
export function typeText(wire: Wire, raw: JsonSchema): string {
  const schema = resolve(wire, raw);
  if (schema.anyOf) {
    const parts = schema.anyOf.map((part) => typeText(wire, part));
    const nulls = parts.includes("null") ? " or null" : "";
    return parts.filter((part) => part !== "null").join(",") + nulls;
  }
  if (schema.enum) return `one of ${schema.enum.join(", ")}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array" && schema.items) return `list of ${typeText(wire, schema.items)}`;
  if (typeof schema.additionalProperties === "object")
    return `map of ${typeText(wire, schema.additionalProperties)}`;
  return schema.type ?? "anything";
}

/** The rules of one schema in canonical words. */
export function constraintsOf(schema: JsonSchema): string[] {
  const { type } = schema;
  const rules: string[] = [];
  for (const part of schema.anyOf ?? []) {
    if (part.type === "null") continue;
    rules.push(...constraintsOf(part).map((rule) => `${part.type}: ${rule}`));
  }
  if (type === "string") rules.push(...lengthRules(schema));
  if (type === "integer" || type === "number") {
    const range = between(schema.minimum, schema.maximum);
    if (range) rules.push(range);
  }
  if (type === "array") {
    const range = between(schema.minItems || undefined, schema.maxItems);
    if (range) rules.push(`${range} items`);
    if (schema.uniqueItems) rules.push("distinct");
  }
  if (schema.propertyNames) {
    rules.push(
      ...lengthRules(schema.propertyNames).map(
        (rule) => `keys ${rule.replace(/^matches/, "match")}`,
      ),
    );
  }
  if (schema.maxProperties !== undefined) rules.push(`at most ${schema.maxProperties} keys`);
  if (schema.default !== undefined) rules.push(`default ${JSON.stringify(schema.default)}`);
  return rules;
}

function lengthRules(schema: JsonSchema): string[] {
  const rules: string[] = [];
  if (schema.minLength) rules.push(`at least ${schema.minLength} characters`);
  if (schema.maxLength !== undefined) rules.push(`at most ${schema.maxLength} characters`);
  if (schema.pattern) rules.push(`matches ${schema.pattern}`);
  return rules;
}

function between(min: number | undefined, max: number | undefined): string | undefined {
  const top = max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (min !== undefined && top !== undefined) return `${min}-${top}`;
  if (min !== undefined) return `at least ${min}`;
  return top === undefined ? undefined : `at most ${top}`;
}
