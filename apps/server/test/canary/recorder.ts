/**
 * Hears all HTTP of this process, of `fetch` and of `node:http`, by the channels on which Node itself tells of it:
 * what is sent and received goes its way untouched, and no test has to remember to be recorded.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Canaries, Holder } from "./canaries.ts";

/** What of one chunk is looked at again with the next one: longer than any mark. */
const OVERLAP = 1_024;
/** Everybody's, or behind a token that is no principal's: tells nothing of any tenant. */
const NOBODYS = /^\/(?:metrics|healthz|readyz|openapi\.json|config\.json)\b/;

interface UndiciRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
}

/** One request and what came back on it. */
interface Exchange {
  readonly where: string;
  readonly token: string | null;
  readonly asked: Buffer[];
  got: Buffer[];
  status: number;
  stream: boolean;
}

export function record(canaries: Canaries): { stop(): void } {
  const open = new WeakMap<object, Exchange>();
  const taps = [
    ...fetchTaps(canaries, open),
    [
      "http.client.response.finish",
      (message: unknown) => tapHttp(canaries, message as HttpFinish),
    ] as const,
  ];
  for (const [name, listener] of taps) subscribe(name, listener);
  return {
    stop() {
      for (const [name, listener] of taps) unsubscribe(name, listener);
    },
  };
}

type Tap = readonly [string, (message: unknown) => void];

function fetchTaps(canaries: Canaries, open: WeakMap<object, Exchange>): Tap[] {
  const tap = <T extends object>(
    name: string,
    heard: (exchange: Exchange, message: T) => void,
  ): Tap => [
    `undici:request:${name}`,
    (message) => {
      const exchange = open.get((message as { request: object }).request);
      if (exchange) heard(exchange, message as T);
    },
  ];
  const over = (exchange: Exchange): void => look(canaries, exchange, true);
  return [
    [
      "undici:request:create",
      (message) => {
        const { request } = message as { request: UndiciRequest };
        open.set(request, exchangeOf(request));
      },
    ],
    tap<{ chunk: Uint8Array | string }>("bodyChunkSent", ({ asked }, { chunk }) => {
      asked.push(Buffer.from(chunk as Uint8Array));
    }),
    tap<{ response: { statusCode: number; headers: Buffer[] } }>("headers", (it, { response }) => {
      const headers = response.headers.map(String);
      it.status = response.statusCode;
      it.stream = headers.some((text) => text.startsWith("text/event-stream"));
      judge(canaries, it, headers.join("\n"));
    }),
    tap<{ chunk: Buffer }>("bodyChunkReceived", (it, { chunk }) => {
      it.got.push(Buffer.from(chunk));
      if (it.stream) look(canaries, it, false);
    }),
    tap("trailers", over),
    tap("error", over),
  ];
}

function exchangeOf({ method, path, headers }: UndiciRequest): Exchange {
  const at = headers.findIndex((name) => name.toLowerCase() === "authorization");
  return started(`${method} ${path}`, at < 0 ? undefined : headers[at + 1]);
}

function started(where: string, authorization: string | undefined): Exchange {
  const [, scheme = "", given = ""] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? "") ?? [];
  const basic = scheme.toLowerCase() === "basic";
  const token = basic
    ? Buffer.from(given, "base64")
        .toString()
        .replace(/^[^:]*:/, "")
    : given;
  return {
    where,
    token: token === "" ? null : token,
    asked: [],
    got: [],
    status: 0,
    stream: false,
  };
}

interface HttpFinish {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Its body is heard where it is pushed: a listener of `data` would set it flowing. */
function tapHttp(canaries: Canaries, { request, response }: HttpFinish): void {
  const authorization = request.getHeader("authorization");
  const exchange = started(`${request.method} ${request.path}`, authorization?.toString());
  exchange.status = response.statusCode ?? 0;
  exchange.stream = true;
  const push = response.push.bind(response);
  response.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk instanceof Uint8Array) exchange.got.push(Buffer.from(chunk));
    look(canaries, exchange, chunk === null);
    return push(chunk, encoding);
  };
}

/** Looks at what came and was not looked at; a stream is looked at as it comes. */
function look(canaries: Canaries, exchange: Exchange, last: boolean): void {
  const bytes = Buffer.concat(exchange.got);
  exchange.got = last ? [] : [bytes.subarray(-OVERLAP)];
  if (bytes.length > 0) judge(canaries, exchange, bytes.toString());
}

function judge(canaries: Canaries, exchange: Exchange, text: string): void {
  const { where, token, status, asked } = exchange;
  canaries.learn(text);
  const to = holderOf(canaries, exchange);
  // A key that was not made in this process's sight: nobody knows what it may see.
  if (to === undefined) return;
  const path = where.split(" ")[1] ?? "";
  canaries.inspect({
    to: NOBODYS.test(path) ? null : to,
    text,
    where: `${where} (${status}${token === null ? ", no token" : ""})`,
    asked: () => path + Buffer.concat(asked).toString(),
  });
}

function holderOf(
  canaries: Canaries,
  { token, status, where }: Exchange,
): Holder | null | undefined {
  if (token === null || status === 401 || NOBODYS.test(where.split(" ")[1] ?? "")) return null;
  return canaries.holderOf(token);
}
