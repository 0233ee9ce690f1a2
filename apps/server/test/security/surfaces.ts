/** The same call over every surface that its method has, and what comes back as it was sent. */
import {
  type ErrorCode,
  type MethodName,
  REST_ROUTES,
  catalog,
  errors,
  pathFields,
} from "@berth/contract";

export const SURFACES = ["tRPC", "HTTP", "REST"] as const;
export type Surface = (typeof SURFACES)[number];

/** One request, before its token. */
export interface Ask {
  readonly verb: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** Of an error its code, else `OK`. */
  readonly code: string;
  /** Those that two answers to one question share. */
  readonly headers: readonly (readonly [string, string])[];
  /** As sent, but for the request's id. Empty for a stream that goes on: it is left at once. */
  readonly text: string;
}

/** What differs between any two answers, and says nothing of what they are about. */
const VOLATILE = new Set(["x-request-id", "date", "ratelimit", "connection", "keep-alive"]);
const STREAM = "/api/compute/events/stream";

const isStream = (method: MethodName) => catalog[method].kind === "subscription";
const routeOf = (method: MethodName) => REST_ROUTES.find((route) => route.method === method);

export function surfacesOf(method: MethodName): Surface[] {
  return SURFACES.filter((surface) => surface !== "REST" || routeOf(method) !== undefined);
}

/** The request's path as the OpenAPI document writes it; null over tRPC, which it does not describe. */
export function documentedPath(surface: Surface, method: MethodName): string | null {
  if (surface === "tRPC") return null;
  if (surface === "REST") return routeOf(method)?.path ?? null;
  return isStream(method) ? STREAM : `/api/compute/${method.replace(".", "/")}`;
}

export function askOf(surface: Surface, method: MethodName, input: object): Ask {
  if (surface === "REST") return restAsk(method, input);
  if (isStream(method))
    return surface === "HTTP"
      ? { verb: "GET", path: `${STREAM}?${queryOf(input)}` }
      : { verb: "GET", path: `/trpc/${method}?${queryOf({ input: { json: input } })}` };
  return surface === "HTTP"
    ? {
        verb: "POST",
        path: `/api/compute/${method.replace(".", "/")}`,
        body: JSON.stringify(input),
      }
    : { verb: "POST", path: `/trpc/${method}`, body: JSON.stringify({ json: input }) };
}

function restAsk(method: MethodName, input: object): Ask {
  const route = routeOf(method);
  if (!route) throw new Error(`${method} has no path of its own`);
  const named = pathFields(route);
  const { verb } = route;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) =>
    encodeURIComponent(String(Reflect.get(input, field))),
  );
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !named.includes(name)));
  if (verb === "POST") return { verb, path, body: JSON.stringify(rest) };
  return { verb, path: `${path}?${queryOf(rest)}` };
}

function queryOf(fields: object): string {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(texts).toString();
}

let asked = 0;
/** Where the call says that it comes from: a server that believes its proxy holds no address back for another's. */
function address(): string {
  asked += 1;
  return `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`;
}

export async function answerOf(url: string, ask: Ask, token: string | null): Promise<Answer> {
  const response = await fetch(`${url}${ask.path}`, {
    method: ask.verb,
    headers: {
      "x-forwarded-for": address(),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(ask.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(ask.body === undefined ? {} : { body: ask.body }),
  });
  const { status } = response;
  const headers = [...response.headers].filter(([name]) => !VOLATILE.has(name));
  const id = response.headers.get("x-request-id") ?? "";
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = (await begunStream(response)).replaceAll(id, "ID");
    // tRPC opens every stream that it is asked for, and says in it what is refused.
    const code = /"berth":\{"code":"(\w+)"/.exec(text)?.[1];
    if (code === undefined) return { status, code: "OK", headers, text: "" };
    return { status: errors[code as ErrorCode].http, code, headers, text };
  }
  const text = (await response.text()).replaceAll(id, "ID");
  return { status, code: codeIn(text), headers, text };
}

/** What the stream says up to its first sign of life, or to what ends it. */
async function begunStream(response: Response): Promise<string> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (/^id: .*\n/m.test(text)) break;
  }
  return text;
}

/** An error's code, in a problem as in tRPC's envelope. */
function codeIn(text: string): string {
  const body = JSON.parse(text) as { code?: unknown; error?: { json: { data: unknown } } };
  const data = body.error?.json.data as { berth?: { code?: unknown } } | undefined;
  const code = data?.berth?.code ?? body.code;
  return typeof code === "string" ? code : "OK";
}
