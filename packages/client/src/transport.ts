/**
 * One request over tRPC's wire. Reads that are made together travel together; a mutation travels alone, so a slow
 * booking never holds up a page. Inputs go out as the plain JSON that they are, and of answers nothing else is read.
 */
import { createTRPCUntypedClient, httpBatchLink, httpLink, splitLink } from "@trpc/client";
import { readAnswer } from "./answer.ts";
import type { BerthOptions } from "./options.ts";

/** The most reads in one request; the server takes somewhat more. */
const BATCH_MAX = 50;

/** The most bytes of one read in a batch: a full one stays under the 1 MiB that the server takes. */
const BATCHED_BYTES_MAX = 20_000;

/** Sends one call and answers what the server did. */
export type Send = (
  method: string,
  kind: "read" | "mutation",
  call: { readonly input: unknown; readonly signal: AbortSignal },
) => Promise<unknown>;

/** No server answered. */
export class Unreached extends Error {}

/** Something answered that does not speak Berth's wire: a gateway, a proxy, another server. */
export class ForeignAnswer extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** It wants the request sent to another address. */
  readonly elsewhere: boolean;

  constructor(response: Response) {
    const elsewhere = isElsewhere(response);
    super(elsewhere ? sentElsewhere(response) : unlikeBerth(response));
    this.elsewhere = elsewhere;
    this.status = response.status;
    this.headers = response.headers;
  }
}

function unlikeBerth({ url, status }: Response): string {
  return `${url || "the server"} answered HTTP ${status}, and not as Berth does`;
}

/** A browser tells nothing of a redirect that it was told not to follow. */
function isElsewhere({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

function sentElsewhere({ url, headers }: Response): string {
  const to = headers.get("location") ?? "";
  const where = URL.canParse(to, url || undefined)
    ? ` to ${new URL(to, url || undefined).origin}`
    : "";
  return `the server sends callers on${where}, where no token is sent: if it has moved, give its new address as url`;
}

const transformer = {
  input: {
    serialize: (json: unknown): unknown => ({ json }),
    deserialize: (value: unknown): unknown => value,
  },
  output: {
    serialize: (value: unknown): unknown => value,
    deserialize: readAnswer,
  },
};

export function createTransport(options: BerthOptions): Send {
  const shared = {
    url: `${addressOf(options.url)}/trpc`,
    transformer,
    headers: () => headersOf(options),
    fetch: (url: unknown, init?: object) => reach(options, String(url), init ?? {}),
  };
  const client = createTRPCUntypedClient({
    links: [
      splitLink({
        condition: ({ type, input }) => type === "query" && isSmall(input),
        true: httpBatchLink({ ...shared, methodOverride: "POST", maxItems: BATCH_MAX }),
        false: httpLink({ ...shared, methodOverride: "POST" }),
      }),
    ],
  });
  return (method, kind, { input, signal }) =>
    kind === "read"
      ? client.query(method, input, { signal })
      : client.mutation(method, input, { signal });
}

/** The server's address without a slash at its end. */
export function addressOf(url: unknown): string {
  const text = typeof url === "string" ? url : "";
  if (/^https?:\/\/[^/]/i.test(text) && isUrl(text))
    return withoutPassword(text).replace(/\/+$/, "");
  // Whatever stands before an @ may be a password.
  const given = typeof url === "string" ? JSON.stringify(url.replace(/^.*@/s, "…@")) : String(url);
  throw new TypeError(
    `createBerth needs url to be an http:// or https:// address such as "https://berth.internal", not ${given}`,
  );
}

/** `fetch` would refuse it as well, with the password in its message. */
function withoutPassword(text: string): string {
  const { username, password } = new URL(text);
  if (username === "" && password === "") return text;
  throw new TypeError(
    "createBerth needs url without a user or password in it: a key belongs into token, other headers into headers",
  );
}

function isUrl(text: string): boolean {
  try {
    return Boolean(new URL(text));
  } catch {
    return false;
  }
}

/** A larger read travels alone. */
function isSmall(input: unknown): boolean {
  const text = JSON.stringify(input) ?? "";
  return new TextEncoder().encode(text).length <= BATCHED_BYTES_MAX;
}

export async function headersOf(options: BerthOptions): Promise<Record<string, string>> {
  const token = typeof options.token === "function" ? await options.token() : options.token;
  const headers = { ...options.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  for (const [name, value] of Object.entries(headers)) {
    // `fetch` would show the whole value in its message.
    if (!/^[\t\x20-\x7e]*$/.test(value))
      throw new TypeError(`${named(name)} holds what no header can carry`);
  }
  return headers;
}

function named(header: string): string {
  return header === "authorization" ? "the token" : `the header ${header}`;
}

/** A redirect is not followed: the request and its token are for the server that was named, and for no other. */
export const STAY = { redirect: "manual" } as const;

/** What tRPC needs of a response, and what a failure is read from. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  json(): Promise<unknown>;
}

/**
 * Fetches and reads the whole body: a connection that breaks half-way through it is a server that was not reached, and
 * what does not speak the wire is somebody else's answer.
 */
async function reach(options: BerthOptions, url: string, init: RequestInit): Promise<Answer> {
  const fetch = options.fetch ?? globalThis.fetch;
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, { ...init, ...STAY });
    body = await response.text();
  } catch (cause) {
    throw unreached(url, cause);
  }
  const parsed = wireOf(response, body);
  const { ok, status, headers } = response;
  return { ok, status, headers, json: () => Promise.resolve(parsed) };
}

/** The connection was not made, or broke. */
export function unreached(url: string, cause: unknown): Unreached {
  const code = codeOf(cause);
  const why = code === undefined ? "" : ` (${code})`;
  return new Unreached(`${new URL(url).origin} was not reached${why}`, { cause });
}

/** The body, read. @throws ForeignAnswer when it is not of Berth's wire */
export function wireOf(response: Response, body: string): object {
  const parsed = parse(body);
  if (!isWire(parsed)) throw new ForeignAnswer(response);
  return parsed;
}

const CAUSES_MAX = 8;

/** What the system calls the failure, such as ECONNREFUSED: `fetch` buries it. Undefined in a browser. */
function codeOf(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    cause = cause.cause;
  }
  return undefined;
}

/** Undefined for what is no JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** An envelope of tRPC, a list of them, or an error told before tRPC saw the call. */
function isWire(body: unknown): body is object {
  if (Array.isArray(body)) return body.length > 0 && body.every(isWire);
  return (
    typeof body === "object" &&
    body !== null &&
    ("result" in body || "error" in body || "code" in body)
  );
}
