/** Sends one call on one surface, over connections that are kept, and hears the answer out. */
import http from "node:http";
import { ADMIN_KEY } from "../../harness.ts";
import type { Operation } from "./openapi.ts";

export const SURFACES = ["trpc", "json", "rest"] as const;
export type Surface = (typeof SURFACES)[number];

/** The input as it goes over the wire: text, for what no value can spell. */
export interface Sent {
  readonly operation: Operation;
  /** Members of the input and their JSON; null where the whole input is no object: `text` then says it. */
  readonly fields: ReadonlyMap<string, string> | null;
  /** The whole input as JSON, or what passes for it. */
  readonly text: string;
  /** Whether a query string can carry it to tRPC. */
  readonly asQuery: boolean;
}

export interface Answer {
  readonly surface: Surface;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly contentType: string;
  /** As it came. */
  readonly raw: unknown;
  /** What the method answered; undefined for an error. */
  readonly output: unknown;
  /** The error's own fields; undefined for a success. */
  readonly error: WireError | undefined;
}

export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly issues: readonly { path: (string | number)[]; message: string }[] | null;
  readonly details: unknown;
}

interface Request {
  readonly verb: string;
  readonly path: string;
  readonly body: string | null;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
/** Ends the connections that are kept. */
export const hangUp = (): void => agent.destroy();

export async function send(url: string, surface: Surface, sent: Sent): Promise<Answer> {
  const { status, headers, text } = await exchange(url, requestOf(surface, sent));
  const raw: unknown = text === "" ? null : JSON.parse(text);
  const contentType = (headers["content-type"] ?? "").split(";")[0] ?? "";
  const shared = { surface, status, headers, contentType, raw };
  if (surface === "trpc") return { ...shared, ...ofTrpc(raw) };
  return status < 400
    ? { ...shared, output: raw, error: undefined }
    : { ...shared, output: undefined, error: raw as WireError };
}

function ofTrpc(raw: unknown): Pick<Answer, "output" | "error"> {
  const { result, error } = raw as {
    result?: { data: { json: unknown } };
    error?: { json: { data: { berth: WireError } } };
  };
  return { output: result?.data.json, error: error?.json.data.berth };
}

function requestOf(surface: Surface, sent: Sent): Request {
  const { operation, text } = sent;
  if (surface === "json") {
    const path = `/api/compute/${operation.method.replace(".", "/")}`;
    return { verb: "POST", path, body: text };
  }
  if (surface === "rest") return restRequest(sent);
  const path = `/trpc/${operation.method}`;
  const envelope = `{"json":${text}}`;
  return operation.kind === "read" && sent.asQuery
    ? { verb: "GET", path: `${path}?input=${encodeURIComponent(envelope)}`, body: null }
    : { verb: "POST", path, body: envelope };
}

function restRequest({ operation, fields, text }: Sent): Request {
  const { verb, inPath } = operation;
  if (fields === null) {
    const path = operation.path.replaceAll(/\{\w+\}/g, "x");
    return { verb, path, body: verb === "POST" ? text : null };
  }
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(plain(fields.get(name) ?? '""')),
  );
  const rest = [...fields].filter(([name]) => !inPath.includes(name));
  if (verb === "GET") {
    const query = rest.map(
      ([name, json]) => `${encodeURIComponent(name)}=${encodeURIComponent(plain(json))}`,
    );
    return { verb, path: query.length > 0 ? `${path}?${query.join("&")}` : path, body: null };
  }
  const body = rest.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",");
  return { verb, path, body: `{${body}}` };
}

/** In an address a text stands without its quotes. */
export function plain(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

interface Heard {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export function exchange(url: string, { verb, path, body }: Request): Promise<Heard> {
  const { promise, resolve, reject } = Promise.withResolvers<Heard>();
  const bytes = body === null ? null : Buffer.from(body);
  const request = http.request(`${url}${path}`, {
    agent,
    method: verb,
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      ...(bytes ? { "content-type": "application/json", "content-length": bytes.length } : {}),
    },
  });
  request.on("response", (response) => {
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    response.on("error", reject);
    response.on("end", () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(parts).toString("utf8"),
      }),
    );
  });
  // A body that is too large is answered before it has all been sent.
  request.on("error", reject);
  request.end(bytes);
  return promise;
}
