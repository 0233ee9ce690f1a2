/** A loopback server that speaks tRPC's wire and answers what a test says, for tests of the client alone. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One call as it arrived; a batch is several of one request. */
export interface Arrived {
  readonly request: number;
  readonly method: string;
  readonly input: unknown;
  readonly headers: IncomingMessage["headers"];
}

/** What to do with a request. */
export type Reply =
  | { readonly data: unknown; readonly headers?: Record<string, string> }
  | { readonly berth: object; readonly status: number; readonly headers?: Record<string, string> }
  | { readonly body: string; readonly status: number; readonly headers?: Record<string, string> }
  | "cut"
  | "half"
  | "never";

export interface WireServer extends AsyncDisposable {
  readonly url: string;
  readonly arrived: Arrived[];
  /** Requests, a batch counted once. */
  readonly requests: () => number;
}

/** Starts the server; `reply` is asked once for every call. */
export async function startWireServer(reply: (call: Arrived) => Reply): Promise<WireServer> {
  const arrived: Arrived[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    const number = (requests += 1);
    void readBody(request).then((body) => {
      const calls = callsOf(request, body, number);
      arrived.push(...calls);
      const isBatch = request.url?.includes("batch=1") ?? false;
      answer(response, { number, isBatch, replies: calls.map(reply) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function callsOf(request: IncomingMessage, body: string, number: number): Arrived[] {
  const url = new URL(request.url ?? "/", "http://wire");
  const methods = decodeURIComponent(url.pathname.replace("/trpc/", "")).split(",");
  const parsed = JSON.parse(body) as Record<string, unknown>;
  return methods.map((method, index) => {
    const envelope = (url.searchParams.has("batch") ? parsed[String(index)] : parsed) as {
      json: unknown;
    };
    return { request: number, method, input: envelope.json, headers: request.headers };
  });
}

function answer(
  response: ServerResponse,
  {
    number,
    isBatch,
    replies,
  }: { readonly number: number; readonly isBatch: boolean; readonly replies: readonly Reply[] },
): void {
  const [first] = replies;
  if (first === undefined || first === "never") return;
  if (first === "cut") return void response.socket?.destroy();
  if (first === "half") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"result":');
    return void setImmediate(() => response.socket?.destroy());
  }
  if ("body" in first) {
    response.writeHead(first.status, { "content-type": "text/html", ...first.headers });
    return void response.end(first.body);
  }
  const envelopes = replies.map(envelopeOf);
  const failed = "berth" in first ? first : undefined;
  response.writeHead(replies.length > 1 && failed ? 207 : (failed?.status ?? 200), {
    "content-type": "application/json",
    "x-request-id": `req-${number}`,
    ...("headers" in first ? first.headers : {}),
  });
  response.end(JSON.stringify(isBatch ? envelopes : envelopes[0]));
}

function envelopeOf(reply: Reply): object {
  if (typeof reply === "object" && "data" in reply)
    return { result: { data: { json: reply.data } } };
  if (typeof reply === "object" && "berth" in reply)
    return {
      error: {
        json: {
          message: "failed",
          code: -32_000,
          data: { berth: reply.berth, httpStatus: reply.status },
        },
      },
    };
  throw new Error("a reply without an envelope stands alone");
}
