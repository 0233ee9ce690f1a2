/** Methods that have a path and a verb of their own beside `POST /api/compute/…`, in the OpenAPI document. */
import { REST_ROUTES, type RestRoute, pathFields } from "@berth/contract";
import { inputExamples, parameterExample } from "./gen-openapi-examples.ts";
import type { JsonSchema, MethodSchema, Wire } from "./wire-schema.ts";

/** What is said of a method however it is called. */
export interface Described {
  readonly operationId: string;
  readonly [field: string]: unknown;
}

interface Told {
  described(method: MethodSchema): Described;
  responses(method: MethodSchema, status: number): object;
}

/** By path. */
export function restPaths(wire: Wire, told: Told): Record<string, object> {
  const byPath: Record<string, Record<string, object>> = {};
  for (const route of REST_ROUTES) {
    const method = wire.methods.find(({ name }) => name === route.method);
    if (!method) throw new Error(`${route.path} is of no method`);
    const { operationId, ...described } = told.described(method);
    (byPath[route.path] ??= {})[route.verb.toLowerCase()] = {
      operationId: `${operationId}.rest`,
      ...described,
      ...inputOf(wire, route, method),
      responses: told.responses(method, route.status),
    };
  }
  return byPath;
}

/** Fields of the path, then the rest of the input: in the query of a GET, in the body of a POST. */
function inputOf(wire: Wire, route: RestRoute, method: MethodSchema): object {
  const input = wire.types.get(method.input) as JsonSchema;
  const inPath = pathFields(route);
  const properties = Object.entries(input.properties ?? {});
  const rest = properties.filter(([field]) => !inPath.includes(field));
  const required = (input.required ?? []).filter((field) => !inPath.includes(field));
  const parameter = (place: "path" | "query") => (field: readonly [string, JsonSchema]) => {
    const example = parameterExample(method, field[0]);
    return {
      name: field[0],
      in: place,
      required: place === "path" || required.includes(field[0]),
      description: field[1].description,
      schema: field[1],
      ...(example === undefined ? {} : { example }),
    };
  };
  const named = properties.filter(([field]) => inPath.includes(field)).map(parameter("path"));
  if (route.verb === "GET") return { parameters: [...named, ...rest.map(parameter("query"))] };
  if (rest.length === 0) return { parameters: named };
  const schema = {
    type: "object",
    properties: Object.fromEntries(rest),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return {
    parameters: named,
    requestBody: {
      required: required.length > 0,
      description: input.description,
      content: { "application/json": { schema, examples: inputExamples(method, inPath) } },
    },
  };
}
