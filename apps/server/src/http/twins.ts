/**
 * `Idempotency-Key` and `If-Match` say on HTTP what `idempotencyKey` and `version` say in the body. Given
 * twice they must agree; a precondition that a call cannot keep is refused, never ignored.
 */
import { ApiError } from "@berth/api";
import type { IncomingHttpHeaders } from "node:http";

/** Which of the two a method's input has. */
export interface Twins {
  readonly idempotencyKey: boolean;
  /** `beside`: the body has no field for it, the method compares it all the same. */
  readonly version: "field" | "beside" | "none";
  readonly mutation: boolean;
}

type Body = Record<string, unknown>;

const isBody = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface Merged {
  /** The body with the headers' values in it. */
  readonly input: unknown;
  /** What If-Match says where the body has no field for it. */
  readonly ifMatch?: number;
}

/** @throws ApiError INVALID_INPUT when header and body differ, or a version cannot be read */
export function withTwins(headers: IncomingHttpHeaders, body: unknown, has: Twins): Merged {
  if (!isBody(body)) return { input: body };
  const key = headers["idempotency-key"];
  const input =
    has.idempotencyKey && typeof key === "string"
      ? merge(body, "idempotencyKey", { value: key, header: "Idempotency-Key" })
      : body;
  const text = headers["if-match"];
  if (text === undefined || !has.mutation) return { input };
  if (has.version === "none")
    throw refused("version", "this call has no version for If-Match to compare with");
  const version = versionOf(text);
  if (has.version === "beside") return { input, ifMatch: version };
  return { input: merge(input, "version", { value: version, header: "If-Match" }) };
}

function merge(body: Body, field: string, twin: { value: unknown; header: string }): Body {
  if (!Object.hasOwn(body, field)) return { ...body, [field]: twin.value };
  if (body[field] === twin.value) return body;
  throw refused(
    field,
    `is not what the ${twin.header} header says; give one of them, or both alike`,
  );
}

/** An entity tag or a plain number; a weak tag, a list and `*` name no one version. */
function versionOf(text: string): number {
  const digits = /^(?:"(\d{1,15})"|(\d{1,15}))$/.exec(text.trim());
  if (!digits) throw refused("version", 'If-Match must be one version, as 3 or "3"');
  return Number(digits[1] ?? digits[2]);
}

function refused(field: string, message: string): ApiError {
  return new ApiError("INVALID_INPUT", {
    message: `${field}: ${message}`,
    issues: [{ path: [field], message }],
  });
}
