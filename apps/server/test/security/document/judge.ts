/** Whether an answer is what the document promises: its status, headers, media type and body. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Answer } from "./caller.ts";
import { type Document, type Operation, type Response, type Schema, solid } from "./openapi.ts";

export interface Judge {
  /** What of the document the answer breaks; empty: nothing. */
  faultsOf(operation: Operation, answer: Answer): string[];
  /** Whether the document allows this input. */
  allows(operation: Operation, input: unknown): boolean;
}

/** Headers that any server sends; every other one is the document's to name. */
const COMMON = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);
/** Headers that keep a browser safe: the same on every answer, held by a test of their own. */
const SAFETY =
  /^(?:content-security-policy|cross-origin-|origin-agent|referrer-|strict-|x-content-|x-dns-|x-download-|x-frame-|x-permitted-|x-xss-|cache-control|vary)/;

export function createJudge(document: Document): Judge {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    validateSchema: false,
    // How wide an integer is; its range is said beside it.
    formats: { int32: true, int64: true },
  });
  const closed = closeObjects(document.components.schemas) as Record<string, Schema>;
  ajv.addSchema({ $id: "asked", components: document.components });
  ajv.addSchema({ $id: "told", components: { schemas: closed } });
  const compiled = new Map<object, ValidateFunction>();
  const validator = (base: "asked" | "told", schema: object): ValidateFunction => {
    const before = compiled.get(schema);
    if (before) return before;
    const text = JSON.stringify(schema).replaceAll('"#/components', `"${base}#/components`);
    const made = ajv.compile(JSON.parse(text) as object);
    compiled.set(schema, made);
    return made;
  };
  const validated = (what: string, schema: object, value: unknown): string[] => {
    const validate = validator("told", schema);
    if (validate(value)) return [];
    const [error] = validate.errors ?? [];
    return [`${what}${error?.instancePath}: ${error?.message} ${JSON.stringify(error?.params)}`];
  };
  return {
    allows: (operation, input) => validator("asked", operation.input)(input),
    faultsOf(operation, answer) {
      const { status, surface } = answer;
      if (status >= 500) return [`it is a ${status}: ${JSON.stringify(answer.raw)}`];
      const response =
        operation.responses[surface === "trpc" && status === 200 ? success(operation) : status];
      if (!response) return [`${status} is not in the document`];
      const media = surface === "trpc" ? "application/json" : answer.contentType;
      const schema = surface === "trpc" ? contentOf(response) : response.content[media]?.schema;
      if (!schema) return [`${media} is not in the document`];
      return [
        ...headerFaults(document, response, answer),
        ...(answer.error
          ? [
              ...errorFaults(answer),
              ...(surface === "trpc" ? [] : validated("body", schema, answer.raw)),
            ]
          : validated("body", schema, answer.output)),
        ...(answer.error && surface === "trpc"
          ? validated(
              "berth",
              document.components.schemas["WireError"] ?? closed["Problem"] ?? {},
              answer.error,
            )
          : []),
      ];
    },
  };
}

const success = ({ responses }: Operation): number => ("201" in responses ? 201 : 200);
const contentOf = ({ content }: Response): Schema | undefined => Object.values(content)[0]?.schema;

function headerFaults(document: Document, response: Response, { headers }: Answer): string[] {
  const named = Object.entries(response.headers ?? {}).map(
    ([name, header]) =>
      [
        name.toLowerCase(),
        solid<{ required?: boolean; schema: Schema }>(document, header),
      ] as const,
  );
  const known = new Map(named);
  const missing = named.filter(
    ([name, { required }]) => required === true && headers[name] === undefined,
  );
  const wrong = named.filter(([name, { schema }]) => {
    const value = headers[name];
    if (value === undefined) return false;
    if (schema.type === "integer") return !/^\d+$/.test(String(value));
    if (schema.enum) return !schema.enum.includes(String(value));
    return schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value));
  });
  const unknown = Object.keys(headers).filter(
    (name) => !known.has(name) && !COMMON.has(name) && !SAFETY.test(name),
  );
  return [
    ...missing.map(([name]) => `the header ${name} is missing`),
    ...wrong.map(([name]) => `the header ${name} is ${String(headers[name])}`),
    ...unknown.map((name) => `the header ${name} is not in the document`),
  ];
}

function errorFaults({ error, headers, raw, surface, status }: Answer): string[] {
  if (!error) return [];
  const { retryable, requestId, message } = error;
  const { detail, status: said } =
    surface === "trpc"
      ? { detail: message, status }
      : (raw as { detail: unknown; status: unknown });
  return [
    ...(headers["x-should-retry"] === String(retryable) ? [] : ["x-should-retry is not retryable"]),
    ...(headers["x-request-id"] === requestId ? [] : ["requestId is not x-request-id"]),
    ...(detail === message ? [] : ["detail is not message"]),
    ...(said === status ? [] : ["status is not the status"]),
  ];
}

/** Answers may gain fields in later versions; in this one there are none that the document does not name. */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== "object" || schema === null) return schema;
  const inside = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, closeObjects(part)]),
  );
  const open = "properties" in schema && "type" in schema && schema.type === "object";
  return open && !("additionalProperties" in schema)
    ? { ...inside, additionalProperties: false }
    : inside;
}
