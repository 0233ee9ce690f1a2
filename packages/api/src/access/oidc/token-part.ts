/** The parts of a token: objects of JSON that has one reading. */
import { strictJson } from "../../strict-json.ts";

/** The object in one part of a token; null when it is not such an object. */
export function objectOf(part: string): Readonly<Record<string, unknown>> | null {
  try {
    const { value } = strictJson(Buffer.from(part, "base64url"));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
