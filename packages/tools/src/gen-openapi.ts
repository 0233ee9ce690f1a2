/** The OpenAPI 3.1 document of everything but tRPC: packages/contract/openapi.json. */
import {
  API_VERSION,
  ERROR_CODES,
  ERROR_PAGES,
  PATTERNS,
  VERSION_BESIDE,
  catalog,
  errors,
  groups,
} from "@berth/contract";
import type { MethodName } from "@berth/contract";
import {
  frameExample,
  inputExamples,
  outputExamples,
  parameterExample,
  problemExamples,
} from "./gen-openapi-examples.ts";
import { HEADER_COMPONENTS, problemHeaders, successHeaders } from "./gen-openapi-headers.ts";
import { portable } from "./gen-openapi-portable.ts";
import { type Described, restPaths } from "./gen-openapi-rest.ts";
import type { Generated } from "./generate.ts";
import type { JsonSchema, MethodSchema, Wire } from "./wire-schema.ts";

export function generateOpenapi(wire: Wire): Generated {
  const statuses = [...new Set(ERROR_CODES.map((code) => errors[code].http))].sort((a, b) => a - b);
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Berth",
      version: API_VERSION,
      description:
        "Books GPUs. Every method is a POST of one JSON object and answers one, but for one stream of events. Times are integers, milliseconds since " +
        "the epoch; windows include their start and exclude their end. A field that a method does not know is refused. " +
        "Text is in Unicode form NFC. A path answers a verb that is not here with 405 and an `Allow` header. " +
        "Every error is `application/problem+json` and says in `x-should-retry` whether the same call may succeed later; its `type` is the address of a page about it. " +
        "An output field that has nothing to say is null. Unit reservations have paths of their own as well; their times are " +
        "RFC 3339 texts, and a field that has nothing to say is left out.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    externalDocs: { url: ERROR_PAGES, description: "Every error: what it means, what to do." },
    servers: [
      { url: "/", description: "The server that answers this document.", "x-internal": false },
    ],
    security: [{ bearer: [] }],
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    paths: {
      ...Object.fromEntries(
        wire.methods.map((method) =>
          isStream(method)
            ? [STREAM_PATH, { get: streamOperation(wire, method, statuses) }]
            : [
                `/api/compute/${method.group}/${method.method}`,
                { post: operation(wire, method, statuses) },
              ],
        ),
      ),
      ...restPaths(wire, {
        described,
        responses: (method, status) => responses(wire, method, { status, statuses }),
      }),
    },
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key, or a token of the configured issuer.",
        },
      },
      parameters: PARAMETERS,
      headers: HEADER_COMPONENTS,
      responses: Object.fromEntries(
        statuses.map((status) => [`Problem${status}`, problem(status)]),
      ),
      schemas: { ...Object.fromEntries(wire.types), ...keyedBodies(wire) },
    },
  };
  const text = `${JSON.stringify(portable(document), null, 2)}\n`;
  return { path: "packages/contract/openapi.json", text };
}

/** A stream of server-sent events has a GET of its own. */
export const isStream = ({ name }: MethodSchema): boolean => catalog[name].kind === "subscription";
/** A stream has no length; the document's readers want one of every text. */
const STREAM_MAX = Number.MAX_SAFE_INTEGER;
const exampleOf = (example: unknown) => (example === undefined ? {} : { example });
export const STREAM_PATH = "/api/compute/events/stream";

function described(method: MethodSchema): Described {
  const row = catalog[method.name];
  return {
    operationId: method.name,
    tags: [method.group],
    summary: row.summary,
    description: row.description,
    "x-berth": {
      kind: row.kind,
      authorization: authorization(method.name),
      module: row.module,
      phase: row.phase,
    },
  };
}

function problems(statuses: readonly number[]): object {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
  );
}

/** The input's fields in the query; the last event's id as `cursor`, or as an EventSource says it. */
function streamOperation(wire: Wire, method: MethodSchema, statuses: readonly number[]): object {
  const input = wire.types.get(method.input) as JsonSchema;
  const fields = Object.entries(input.properties ?? {}).map(([field, schema]) => ({
    name: field === "lastEventId" ? "cursor" : field,
    in: "query",
    required: input.required?.includes(field) ?? false,
    description: schema.description,
    schema,
    ...exampleOf(parameterExample(method, field)),
  }));
  const header = {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    description: "The same as `cursor`, and wins over it: what an EventSource sends by itself.",
    schema: { type: "string", maxLength: 512, pattern: PATTERNS.cursor.source },
    ...exampleOf(parameterExample(method, "lastEventId")),
  };
  return {
    ...described(method),
    parameters: [...fields, header],
    responses: {
      200: {
        description:
          "Server-sent events, until either side ends it. Each has the event's type in `event`, its cursor in `id` and " +
          `the event as JSON in \`data\` (schema ${method.output}). A comment with an \`id\` and no data comes every 15 s when ` +
          "nothing happens. An event `problem`, with a Problem in `data`, says why the server ends the stream; a stream " +
          "that ends without one is to be opened again with the last `id`.",
        headers: successHeaders(wire, method),
        content: {
          "text/event-stream": {
            schema: {
              type: "string",
              maxLength: STREAM_MAX,
              description: "Frames, without an end.",
            },
            examples: {
              plain: { summary: "One event", value: frameExample(method) },
            },
          },
        },
      },
      ...problems(statuses),
    },
  };
}

function operation(wire: Wire, method: MethodSchema, statuses: readonly number[]): object {
  const input = wire.types.get(method.input) as JsonSchema;
  const has = (field: string): boolean => input.properties?.[field] !== undefined;
  const parameters = [
    ...(has("idempotencyKey") ? ["IdempotencyKey"] : []),
    ...(has("version") || VERSION_BESIDE.has(method.name) ? ["IfMatch"] : []),
  ];
  return {
    ...described(method),
    ...(parameters.length > 0
      ? { parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }
      : {}),
    // Without a body the input is `{}`.
    requestBody: {
      required: (input.required ?? []).length > 0,
      description: input.description,
      content: json(method.input, inputExamples(method)),
    },
    responses: responses(wire, method, { status: 200, statuses }),
  };
}

function responses(
  wire: Wire,
  method: MethodSchema,
  { status, statuses }: { status: number; statuses: readonly number[] },
): object {
  return {
    [status]: {
      description: status === 201 ? "Made." : "Done.",
      headers: successHeaders(wire, method),
      content: json(method.output, outputExamples(method)),
    },
    ...problems(statuses),
  };
}

/**
 * Bodies of calls that need a key, which may come as a header instead: a schema knows nothing of headers, so the
 * field is not required there and its description says what is.
 */
function keyedBodies(wire: Wire): Record<string, JsonSchema> {
  const inputs = new Set(wire.methods.map(({ input }) => input));
  return Object.fromEntries(
    [...inputs].flatMap((name) => {
      const schema = wire.types.get(name) as JsonSchema;
      const { properties, required = [] } = schema;
      const key = properties?.["idempotencyKey"];
      if (!key || !required.includes("idempotencyKey")) return [];
      const body = {
        ...schema,
        properties: {
          ...properties,
          idempotencyKey: { ...key, description: `${key.description} ${KEY_SOMEWHERE}` },
        },
        required: required.filter((field) => field !== "idempotencyKey"),
      };
      return [[name, body]];
    }),
  );
}

/** `action @ resource`, with what is allowed instead and whether entries are decided too. */
export function authorization(name: MethodName): string {
  const row = catalog[name];
  if (row.resource === "none") return "any valid token";
  const also = row.alternative ? ` or ${row.alternative.action} @ ${row.alternative.resource}` : "";
  return `${row.action} @ ${row.resource}${row.items ? " + items" : ""}${also}`;
}

function json(type: string, examples: object): object {
  return { "application/json": { schema: { $ref: `#/components/schemas/${type}` }, examples } };
}

function problem(status: number): object {
  const codes = ERROR_CODES.filter((code) => errors[code].http === status);
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].sentence}`).join(" "),
    headers: problemHeaders(status),
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Problem" },
        examples: problemExamples(status),
      },
    },
  };
}

const KEY_SOMEWHERE =
  "Needed here or as the header `Idempotency-Key`: neither, or two that differ, is INVALID_INPUT.";

const PARAMETERS = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "The same as `idempotencyKey` in the body, which need not be there beside it: two that differ are INVALID_INPUT, " +
      "and so is neither where the body's field says that one is needed.",
    schema: { type: "string", minLength: 1, maxLength: 128, pattern: PATTERNS.poolKey.source },
    example: "train-7f3a",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description: "The same as `version` in the body, plain or quoted; a stale one is CONFLICT.",
    schema: { type: "string", maxLength: 32, pattern: '^(?:"[0-9]{1,15}"|[0-9]{1,15})$' },
    example: '"3"',
  },
};
