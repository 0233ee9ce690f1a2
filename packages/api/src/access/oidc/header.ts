/** What is looked at before any key is: form, size, and a header that asks for nothing but a known key. */
import type { Reason } from "./refusal.ts";
import type { OidcSettings } from "./settings.ts";
import { objectOf } from "./token-part.ts";

/** Tokens with long lists of groups have up to about 6 kB; Node takes 16 kB of headers in all. */
const TOKEN_MAX = 8_192;
const HEADER_MAX = 2_048;
const KEY_ID_MAX = 256;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** Where these lead is the sender's choice, or what they ask for is not done here. */
const NOT_TAKEN = ["crit", "jwk", "jku", "x5u", "x5c", "zip", "cty", "b64", "enc"];

export interface Opened {
  /** Of an access token by RFC 9068: it says so itself. */
  readonly saysAccess: boolean;
  /** The claims as they were sent; believed once the signature is checked. */
  readonly payload: string;
}

/** Whether a bearer token is meant as a JWT: its header is a JSON object in base64url. */
export function looksLikeJwt(token: string): boolean {
  return token.startsWith("ey") && token.includes(".");
}

export function openToken(token: string, settings: OidcSettings): Opened | Reason {
  if (token.length > TOKEN_MAX) return "form";
  const [, head = "", payload = ""] = FORM.exec(token) ?? [];
  if (payload === "") return "form";
  const header = head.length > HEADER_MAX ? null : objectOf(head);
  if (!header || NOT_TAKEN.some((name) => Object.hasOwn(header, name))) return "header";
  const { alg, kid, typ } = header;
  if (typeof alg !== "string" || !settings.algorithms.includes(alg)) return "algorithm";
  if (kid !== undefined && (typeof kid !== "string" || kid.length > KEY_ID_MAX)) return "header";
  const saysAccess = typ !== undefined && isType(typ, "at+jwt");
  if (typ !== undefined && !saysAccess && !isType(typ, "jwt")) return "kind";
  return { saysAccess, payload };
}

/** Media types have no case, and may leave out `application/` (RFC 7515, section 4.1.9). */
function isType(typ: unknown, wanted: string): boolean {
  if (typeof typ !== "string") return false;
  const given = typ.toLowerCase();
  return given === wanted || given === `application/${wanted}`;
}
