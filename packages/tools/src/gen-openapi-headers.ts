/** Headers of answers, as the OpenAPI document names them: every one that a server sends of its own. */
import { API_VERSION, catalog, errors } from "@berth/contract";
import type { MethodSchema, Wire } from "./wire-schema.ts";

const REF = "#/components/headers/";

interface Header {
  /** In the document's list of headers. */
  readonly id: string;
  readonly description: string;
  readonly required?: true;
  readonly schema: object;
  readonly example: string | number;
}

/** Items of a Structured Field (RFC 9651): a name in quotes, then its parameters. */
const fields = (parameters: string) => ({
  type: "string",
  maxLength: 256,
  pattern: `^"[a-z]+"(?:;[${parameters}]=[0-9]+)+$`,
});
const count = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const HEADERS = {
  "x-request-id": {
    id: "RequestId",
    description: "The request's id: the caller's own when it is harmless, else one of ours.",
    required: true,
    schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "0f6d6f3e-5f0c-4f8e-9a55-3d1f6f0a2b11",
  },
  "berth-api-version": {
    id: "ApiVersion",
    description:
      "The version of the API that answers, `major.minor`: a larger minor knows more, another major is another API.",
    required: true,
    schema: { type: "string", maxLength: 16, pattern: "^[0-9]+[.][0-9]+$" },
    example: API_VERSION,
  },
  "x-berth-seq": {
    id: "Seq",
    description: "Of an answer about one pool: the pool's sequence number that it was decided at.",
    schema: count,
    example: 42,
  },
  "Idempotent-Replayed": {
    id: "Replayed",
    description: "The key was used before: this is what that call made.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  "RateLimit-Policy": {
    id: "RateLimitPolicy",
    description:
      "Calls that may be made (`q`) in so many seconds (`w`): by a principal; where an address had made too many, from there. A hint.",
    schema: fields("qw"),
    example: '"principal";q=60000;w=60',
  },
  RateLimit: {
    id: "RateLimit",
    description: "Calls that are left (`r`) and seconds until all are there again (`t`). A hint.",
    schema: fields("rt"),
    example: '"principal";r=59993;t=41',
  },
  "x-should-retry": {
    id: "ShouldRetry",
    description: "Whether the same call may succeed later: `retryable`.",
    required: true,
    schema: { type: "string", enum: ["true", "false"] },
    example: "false",
  },
  "WWW-Authenticate": {
    id: "WwwAuthenticate",
    description:
      "How to sign in (RFC 6750): with a key or a token of the issuer, as `Authorization: Bearer …`.",
    required: true,
    schema: { type: "string", maxLength: 64, pattern: "^Bearer .+$" },
    example: 'Bearer realm="berth"',
  },
  "Retry-After": {
    id: "RetryAfter",
    description: "Come back after so many seconds.",
    required: true,
    schema: { type: "integer", minimum: 0, maximum: 3_600 },
    example: 1,
  },
} as const satisfies Record<string, Header>;
type Name = keyof typeof HEADERS;

/** By id, for the document's components. */
export const HEADER_COMPONENTS: object = Object.fromEntries(
  Object.values(HEADERS).map(({ id, ...header }) => [id, header]),
);

function refer(names: readonly Name[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: REF + HEADERS[name].id }]));
}

/** What every answer to a known caller says. */
const ALWAYS: readonly Name[] = [
  "x-request-id",
  "berth-api-version",
  "RateLimit-Policy",
  "RateLimit",
  "x-berth-seq",
];

export function successHeaders(wire: Wire, method: MethodSchema): object {
  const keyed =
    catalog[method.name].kind === "mutation" &&
    wire.types.get(method.input)?.properties?.["idempotencyKey"] !== undefined;
  return refer([...ALWAYS, ...(keyed ? (["Idempotent-Replayed"] as const) : [])]);
}

/** Of an error with this status. */
export function problemHeaders(status: number): object {
  const retryable = Object.values(errors).some((entry) => entry.http === status && entry.retryable);
  return refer([
    ...ALWAYS,
    "x-should-retry",
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
    ...(retryable ? (["Retry-After"] as const) : []),
  ]);
}
