/**
 * One request over tRPC's wire. Reads that are made together travel together; a mutation travels alone, so a slow
 * booking never holds up a page. superjson reads answers; inputs go out as the plain JSON that they are.
 */
import { createTRPCUntypedClient, httpBatchLink, httpLink, splitLink } from "@trpc/client";
import superjson from "superjson";
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

  constructor(response: Response) {
    super(
      `${response.url || "the server"} answered HTTP ${response.status}, and not as Berth does`,
    );
    this.status = response.status;
    this.headers = response.headers;
  }
}

const transformer = {
  input: {
    serialize: (json: unknown): unknown => ({ json }),
    deserialize: (value: unknown): unknown => value,
  },
  output: superjson,
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
  if (/^https?:\/\/[^/]/i.test(text) && isUrl(text)) return text.replace(/\/+$/, "");
  // Whatever stands before an @ may be a password.
  const given = typeof url === "string" ? JSON.stringify(url.replace(/^.*@/s, "…@")) : String(url);
  throw new TypeError(
    `createBerth needs url to be an http:// or https:// address such as "https://berth.internal", not ${given}`,
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
  return { ...options.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
}

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
    response = await fetch(url, init);
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
