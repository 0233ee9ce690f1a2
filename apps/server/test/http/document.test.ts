/** The OpenAPI document as it is served: its examples are true, by a reader of schemas that is not ours. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { ERROR_KINDS, METHOD_NAMES, errorKindOf, schemasOf } from "@berth/contract";
import { expect, it } from "vitest";
import { openapi } from "../../src/openapi.ts";

interface Media {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly example?: unknown; readonly schema?: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<
      Record<string, { readonly content: Readonly<Record<string, Media>> }>
    >;
    readonly headers: Readonly<
      Record<string, { readonly schema: object; readonly example: unknown }>
    >;
  };
}

const document = JSON.parse(openapi()) as Document;
const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs));

/** As answers of this version are: with the fields that are named, and no others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const inside = Object.fromEntries(Object.entries(node).map(([key, part]) => [key, closed(part)]));
  return "properties" in node && !("additionalProperties" in node)
    ? { ...inside, additionalProperties: false }
    : inside;
}

const ajv = new Ajv2020({ strict: false, formats: { int32: true, int64: true } });
ajv.addSchema({ $id: "document", components: { schemas: closed(document.components.schemas) } });

function faultsIn(what: string, { schema, examples = {} }: Media): string[] {
  const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"document#/components');
  const validate = ajv.compile(JSON.parse(text) as object);
  return Object.entries(examples).flatMap(([name, { value }]) =>
    validate(value) ? [] : [`${what} ${name}: ${ajv.errorsText(validate.errors)}`],
  );
}

it("shows bodies, answers and errors that its own schemas take", () => {
  const bodies = operations.flatMap(({ operationId, requestBody, responses }) => [
    ...Object.values(requestBody?.content ?? {}).map(
      (media) => [`${operationId} asks`, media] as const,
    ),
    ...Object.values(responses).flatMap(({ content = {} }) =>
      Object.values(content).map((media) => [`${operationId} answers`, media] as const),
    ),
  ]);
  const errors = Object.entries(document.components.responses).flatMap(([name, { content }]) =>
    Object.values(content).map((media) => [name, media] as const),
  );
  const all = [...bodies, ...errors];
  const shown = all.flatMap(([, { examples = {} }]) => Object.keys(examples)).length;
  expect(shown).toBeGreaterThan(130);
  expect(all.flatMap(([what, media]) => faultsIn(what, media))).toEqual([]);
});

it("shows inputs that the server's own schemas take as well, whichever address they are sent to", () => {
  const wrong = operations.flatMap(({ operationId, parameters = [], requestBody }) => {
    const [group = "", method = "", rest] = operationId.split(".");
    const name = METHOD_NAMES.find((each) => each === `${group}.${method}`);
    if (name === undefined) return [`${operationId} is no method`];
    if (rest !== undefined || parameters.some((each) => "in" in each && each.in === "query"))
      return [];
    const { input } = schemasOf(name);
    return Object.entries(requestBody?.content["application/json"]?.examples ?? {}).flatMap(
      ([example, { value }]) =>
        input.safeParse(value).success ? [] : [`${operationId} ${example}`],
    );
  });
  expect(wrong).toEqual([]);
});

it("gives every parameter and header that it shows a value that its schema takes", () => {
  const named = [
    ...operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.map((each, at) => [`${operationId} parameter ${at}`, each] as const),
    ),
    ...Object.entries(document.components.headers),
  ];
  const faults = named.flatMap(([what, { example, schema }]) =>
    example === undefined || schema === undefined
      ? []
      : faultsIn(what, { schema, examples: { example: { value: example } } }),
  );
  expect(faults).toEqual([]);
});

it("has an example of every kind of error, with the address of its page", () => {
  const shown = Object.values(document.components.responses)
    .flatMap(({ content }) => Object.values(content))
    .flatMap(({ examples = {} }) => Object.entries(examples));
  for (const [name, { value }] of shown) {
    const { type, code, details } = value as { type: string; code: never; details: unknown };
    expect(type).toBe(`/docs/errors/${name}`);
    expect(errorKindOf(code, details)).toBe(name);
  }
  // A code that has reasons is shown with each of them.
  const whole = [...ERROR_KINDS].filter(([name]) => name !== "conflict" && name !== "no-capacity");
  expect(shown.map(([name]) => name).toSorted()).toEqual(whole.map(([name]) => name).toSorted());
});
