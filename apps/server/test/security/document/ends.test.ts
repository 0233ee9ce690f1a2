/** The document itself: what may be sent has an end wherever there could be more of it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { RULES } from "./beyond.ts";
import { type Document, type Schema, operationsOf, solid } from "./openapi.ts";

const here = createRequire(import.meta.url);
const document = JSON.parse(
  readFileSync(here.resolve("@berth/contract/openapi.json"), "utf8"),
) as Document;

/** Where a schema lets a caller send as much as he likes. */
function endless(raw: Schema, where: string, seen = new Set<string>()): string[] {
  if (raw.$ref !== undefined) {
    if (seen.has(raw.$ref)) return [];
    seen.add(raw.$ref);
  }
  const schema = solid<Schema>(document, raw);
  const missing = (ok: boolean, what: string) => (ok ? [] : [`${where} has no ${what}`]);
  const inside = (part: Schema | undefined, step: string) =>
    part === undefined ? [`${where}${step} says nothing`] : endless(part, where + step, seen);
  if (schema.anyOf) return schema.anyOf.flatMap((part, at) => inside(part, `|${at}`));
  if (schema.enum || schema.const !== undefined) return [];
  switch (schema.type) {
    case "boolean":
    case "null":
      return [];
    case "string":
      return missing(schema.maxLength !== undefined, "maxLength");
    case "integer":
    case "number":
      return missing(
        schema.minimum !== undefined && schema.maximum !== undefined,
        "minimum and maximum",
      );
    case "array":
      return [...missing(schema.maxItems !== undefined, "maxItems"), ...inside(schema.items, "[]")];
    case "object":
      return objects(schema, { where, inside, missing });
    case undefined:
  }
  return [`${where} has no type`];
}

interface Parts {
  readonly where: string;
  inside(part: Schema | undefined, step: string): string[];
  missing(ok: boolean, what: string): string[];
}

function objects(schema: Schema, { inside, missing }: Parts): string[] {
  const { additionalProperties: rest, propertyNames, maxProperties, properties = {} } = schema;
  const fields = Object.entries(properties).flatMap(([name, part]) => inside(part, `.${name}`));
  if (rest === false) return fields;
  return [
    ...fields,
    ...missing(maxProperties !== undefined, "maxProperties"),
    ...missing(propertyNames?.maxLength !== undefined, "end to its keys"),
    ...inside(typeof rest === "object" ? rest : undefined, ".*"),
  ];
}

it("every list, map, text and number that may be sent has an end, without exception", () => {
  const operations = operationsOf(document);
  expect(operations.length).toBeGreaterThan(50);
  expect(operations.flatMap(({ name, input }) => endless(input, name))).toEqual([]);
});

it("a missing end is found", () => {
  const open: Schema = {
    type: "object",
    properties: {
      text: { type: "string" },
      list: { type: "array", items: { type: "integer", minimum: 0 } },
      map: { type: "object", additionalProperties: { type: "boolean" } },
      any: {},
    },
  };
  expect(endless(open, "x")).toEqual([
    "x.text has no maxLength",
    "x.list has no maxItems",
    "x.list[] has no minimum and maximum",
    "x.map has no maxProperties",
    "x.map has no end to its keys",
    "x.any has no type",
    "x has no maxProperties",
    "x has no end to its keys",
    "x.* says nothing",
  ]);
});

it("every rule that no schema can state is in the document in words", () => {
  const words = JSON.stringify(document).replaceAll('\\"', '"');
  expect(RULES.map(({ said }) => said).filter((said) => !words.includes(said))).toEqual([]);
});
