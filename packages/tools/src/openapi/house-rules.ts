/** Rules of this house for the OpenAPI document, as Spectral runs them; each says what is wrong at its place. */
import { LIMITS } from "@berth/contract";

type Node = Readonly<Record<string, unknown>>;
interface Found {
  readonly message: string;
  readonly path?: (string | number)[];
}
type Look = (node: Node) => Found[];

/** `group.method`, with `.rest` for its second address. */
const OPERATION_ID = /^[a-z][A-Za-z]*\.[a-z][A-Za-z]*(?:\.rest)?$/;
const OPERATIONS = "$.paths[*][get,put,post,delete,patch]";

const entries = (node: unknown): [string, Node][] =>
  Object.entries((node ?? {}) as Record<string, Node>);
const responses = (operation: Node) => entries(operation["responses"]);
const isError = (status: string) => status.startsWith("4") || status.startsWith("5");

const operationIds: Look = ({ operationId }) =>
  typeof operationId === "string" && OPERATION_ID.test(operationId)
    ? []
    : [{ message: `operationId must be group.method, is ${String(operationId)}` }];

const problems: Look = (operation) =>
  responses(operation).flatMap(([status, { content }]) => {
    const types = Object.keys((content ?? {}) as object);
    return isError(status) && types.join() !== "application/problem+json"
      ? [{ message: `an error is application/problem+json, ${status} is ${types.join()}` }]
      : [];
  });

/** A body that has no fields at all still shows that it is `{}`. */
const examples: Look = (operation) => {
  const bodies: [string, unknown][] = [
    ["the request", (operation["requestBody"] as Node | undefined)?.["content"]],
    ...responses(operation).map(([status, { content }]): [string, unknown] => [status, content]),
  ];
  return bodies.flatMap(([what, content]) =>
    entries(content)
      .filter(([, media]) => entries(media["examples"]).length === 0)
      .map(([type]) => ({ message: `${what} has no example of ${type}` })),
  );
};

const headers: Look = (operation) =>
  responses(operation).flatMap(([status, response]) => {
    const named = Object.keys((response["headers"] ?? {}) as object);
    const wanted = [
      "x-request-id",
      "berth-api-version",
      ...(isError(status) ? ["x-should-retry"] : []),
      ...(status === "429" || status === "503" ? ["Retry-After"] : []),
    ];
    const missing = wanted.filter((name) => !named.includes(name));
    return missing.map((name) => ({ message: `${status} does not name the header ${name}` }));
  });

const units: Look = (schema) =>
  entries(schema["properties"]).flatMap(([name, field]) => {
    const { description = "" } = field as { description?: string };
    return isTime(field) && !/millisecond/i.test(description)
      ? [{ message: `the unit of ${name} is not said`, path: ["properties", name] }]
      : [];
  });

function isTime(schema: Node): boolean {
  if (schema["type"] === "integer") return schema["maximum"] === LIMITS.timeMax;
  return Array.isArray(schema["anyOf"]) && (schema["anyOf"] as Node[]).some(isTime);
}

function rule(given: string, message: string, look: Look) {
  return {
    given,
    message: "{{error}}",
    description: message,
    severity: "error" as const,
    // oxlint-disable-next-line unicorn/no-thenable -- Spectral's own word; nobody awaits a rule
    then: {
      function: (node: unknown, _options: unknown, { path }: { path: (string | number)[] }) =>
        look(node as Node).map(({ message: error, path: below = [] }) => ({
          message: error,
          path: [...path, ...below],
        })),
    },
  };
}

export const HOUSE_RULES = {
  "berth-operation-id": rule(OPERATIONS, "operationId is group.method", operationIds),
  "berth-problem-json": rule(OPERATIONS, "every error is a problem", problems),
  "berth-examples": rule(OPERATIONS, "every body has an example", examples),
  "berth-headers": rule(OPERATIONS, "every answer names our headers", headers),
  "berth-units": rule("$.components.schemas[*]", "times say their unit", units),
};
