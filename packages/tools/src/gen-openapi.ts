/** The OpenAPI 3.1 document of `POST /api/compute/{group}/{method}`: packages/contract/openapi.json. */
import { ERROR_CODES, VERSION_BESIDE, catalog, errors, groups } from "@berth/contract";
import type { MethodName } from "@berth/contract";
import type { Generated } from "./generate.ts";
import type { JsonSchema, MethodSchema, Wire } from "./wire-schema.ts";

export function generateOpenapi(wire: Wire): Generated {
  const statuses = [...new Set(ERROR_CODES.map((code) => errors[code].http))].sort((a, b) => a - b);
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Berth",
      version: "1",
      description:
        "Books GPUs. Every method is a POST of one JSON object and answers one. Times are integers, milliseconds since " +
        "the epoch; windows include their start and exclude their end. A field that a method does not know is refused. " +
        "An output field that has nothing to say is null.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      wire.methods.map((method) => [
        `/api/compute/${method.group}/${method.method}`,
        { post: operation(wire, method, statuses) },
      ]),
    ),
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key, or a token of the configured issuer.",
        },
      },
      parameters: PARAMETERS,
      responses: Object.fromEntries(
        statuses.map((status) => [`Problem${status}`, problem(status)]),
      ),
      schemas: Object.fromEntries(wire.types),
    },
  };
  return { path: "packages/contract/openapi.json", text: `${JSON.stringify(document, null, 2)}\n` };
}

function operation(wire: Wire, method: MethodSchema, statuses: readonly number[]): object {
  const row = catalog[method.name];
  const input = wire.types.get(method.input) as JsonSchema;
  const has = (field: string): boolean => input.properties?.[field] !== undefined;
  const parameters = [
    ...(has("idempotencyKey") ? ["IdempotencyKey"] : []),
    ...(has("version") || VERSION_BESIDE.has(method.name) ? ["IfMatch"] : []),
  ];
  return {
    operationId: `${method.group}_${method.method}`,
    tags: [method.group],
    summary: row.summary,
    description: row.description,
    "x-berth": {
      kind: row.kind,
      authorization: authorization(method.name),
      module: row.module,
      phase: row.phase,
    },
    ...(parameters.length > 0
      ? { parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }
      : {}),
    requestBody: { required: !method.inputOptional, content: json(method.input) },
    responses: {
      200: {
        description: "Done.",
        headers: {
          "x-request-id": { schema: { type: "string" }, description: "The request's id." },
        },
        content: json(method.output),
      },
      ...Object.fromEntries(
        statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
  };
}

/** `action @ resource`, with what is allowed instead and whether entries are decided too. */
export function authorization(name: MethodName): string {
  const row = catalog[name];
  if (row.resource === "none") return "any valid token";
  const also = row.alternative ? ` or ${row.alternative.action} @ ${row.alternative.resource}` : "";
  return `${row.action} @ ${row.resource}${row.items ? " + items" : ""}${also}`;
}

function json(type: string): object {
  return { "application/json": { schema: { $ref: `#/components/schemas/${type}` } } };
}

function problem(status: number): object {
  const codes = ERROR_CODES.filter((code) => errors[code].http === status);
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].sentence}`).join(" "),
    ...(status === 429 || status === 503
      ? {
          headers: {
            "Retry-After": {
              schema: { type: "integer" },
              description: "Come back after so many seconds.",
            },
          },
        }
      : {}),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

const PARAMETERS = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "The same as `idempotencyKey` in the body; both given and different is INVALID_INPUT.",
    schema: { type: "string", maxLength: 128 },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description: "The same as `version` in the body, plain or quoted; a stale one is CONFLICT.",
    schema: { type: "string", maxLength: 32 },
  },
};
