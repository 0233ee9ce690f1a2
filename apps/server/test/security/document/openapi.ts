/**
 * The contract as strangers have it: the OpenAPI document that a server answers. Everything in this folder
 * is made from it, never from the schemas that the server itself parses with.
 */
import type { MethodName } from "@berth/contract";

export interface Schema {
  readonly $ref?: string;
  readonly type?: "string" | "integer" | "number" | "boolean" | "null" | "array" | "object";
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Body {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface PathItem {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": Body };
  };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
  readonly "x-berth": { readonly kind: "read" | "mutation" | "subscription" };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathItem>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers?: Readonly<Record<string, Header>>;
  };
}

/** One verb of one path. */
export interface Operation {
  readonly method: MethodName;
  /** `POST /v1/nodes/{nodeId}/reservations`. */
  readonly name: string;
  readonly verb: "GET" | "POST";
  readonly path: string;
  readonly kind: "read" | "mutation" | "subscription";
  /** All of the input as one object: what the path, the query and the body say together. */
  readonly input: Schema;
  readonly inPath: readonly string[];
  readonly inQuery: readonly string[];
  readonly headers: readonly string[];
  /** By status. */
  readonly responses: Readonly<Record<string, Response>>;
}

export async function readDocument(url: string): Promise<Document> {
  const response = await fetch(`${url}/openapi.json`);
  return (await response.json()) as Document;
}

type Refs = Document["components"];

/** What a reference stands for; what is said beside it wins. */
export function solid<T extends object>(
  document: Document,
  value: T | { readonly $ref: string },
): T {
  if (!("$ref" in value) || typeof value.$ref !== "string") return value as T;
  const [, , part = "", name = ""] = value.$ref.split("/");
  const target = (document.components[part as keyof Refs] as Record<string, T> | undefined)?.[name];
  if (!target) throw new Error(`the document refers to ${value.$ref}, which is not in it`);
  const { $ref: _, ...beside } = value;
  return { ...solid(document, target), ...beside };
}

/** Every verb of every path, the stream too. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, item]) => operation(document, { path, verb, item })),
  );
}

function operation(
  document: Document,
  { path, verb, item }: { path: string; verb: string; item: PathItem },
): Operation {
  const parameters = (item.parameters ?? []).map((each) => solid<Parameter>(document, each));
  const named = parameters.filter((each) => each.in !== "header");
  const body = item.requestBody?.content["application/json"].schema;
  const whole = body ? solid<Schema>(document, body) : { properties: {}, required: [] };
  const namesIn = (place: Parameter["in"]) =>
    parameters.filter((each) => each.in === place).map(({ name }) => name);
  return {
    method: item.operationId.replace(/\.rest$/, "") as MethodName,
    name: `${verb.toUpperCase()} ${path}`,
    verb: verb.toUpperCase() as Operation["verb"],
    path,
    kind: item["x-berth"].kind,
    input: {
      type: "object",
      properties: {
        ...Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
        ...whole.properties,
      },
      required: [
        ...named.filter(({ required }) => required).map(({ name }) => name),
        ...(whole.required ?? []),
        ...keysNeeded(whole),
      ],
      additionalProperties: false,
    },
    inPath: namesIn("path"),
    inQuery: namesIn("query"),
    headers: namesIn("header"),
    responses: Object.fromEntries(
      Object.entries(item.responses).map(([status, response]) => [
        status,
        solid<Response>(document, response),
      ]),
    ),
  };
}

/** What a body may leave to a header, the whole input may not be without; of that the document has words alone. */
export function keysNeeded({ properties = {} }: Schema): string[] {
  return Object.entries(properties)
    .filter(([, { description = "" }]) => /Needed here or as the header/.test(description))
    .map(([name]) => name);
}

/** `POST /api/compute/…` of every method but the stream. */
export const plainOf = (operations: readonly Operation[]): Operation[] =>
  operations.filter(({ path, verb }) => path.startsWith("/api/compute/") && verb === "POST");

/** The paths of unit reservations' first callers. */
export const restOf = (operations: readonly Operation[]): Operation[] =>
  operations.filter(({ path }) => path.startsWith("/v1/"));
