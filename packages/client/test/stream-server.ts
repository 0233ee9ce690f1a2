/** A loopback server of streams as tRPC writes them: a script for each connection, in turn. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One connection as it arrived. */
export interface Opened {
  readonly input: { readonly lastEventId?: string };
  readonly headers: IncomingMessage["headers"];
  /** Resolves when either side has closed it. */
  readonly closed: Promise<void>;
}

/** What a connection does: writes, and ends, breaks off or stays. */
export type Script = (write: StreamWriter, response: ServerResponse) => void;

export interface StreamWriter {
  /** An event, or null for a sign of life. */
  event(id: string, event: object | null): void;
  /** The end that the server gives a reason for. */
  error(berth: object): void;
  /** Some bytes as they are. */
  raw(text: string): void;
}

export interface StreamServer extends AsyncDisposable {
  readonly url: string;
  readonly opened: Opened[];
}

/** The last script is that of every further connection. */
export async function startStreamServer(...scripts: readonly Script[]): Promise<StreamServer> {
  const opened: Opened[] = [];
  const server = createServer((request, response) => {
    void readInput(request).then((input) => {
      const closed = new Promise<void>((resolve) => response.once("close", resolve));
      opened.push({ input, headers: request.headers, closed });
      scripts[Math.min(opened.length, scripts.length) - 1]?.(writerTo(response), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    opened,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A refusal before the stream begins. */
export function refuse(status: number, berth: object): Script {
  return (_write, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { json: { message: "no", data: { berth } } } }));
  };
}

async function readInput(request: IncomingMessage): Promise<Opened["input"]> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return (JSON.parse(body) as { json: Opened["input"] }).json;
}

function writerTo(response: ServerResponse): StreamWriter {
  const raw = (text: string): void => {
    if (!response.headersSent)
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .write("event: connected\ndata: {}\n\n");
    response.write(text);
  };
  return {
    raw,
    event: (id, event) => raw(`data: ${JSON.stringify({ json: event })}\nid: ${id}\n\n\n`),
    error: (berth) =>
      raw(
        `event: serialized-error\ndata: ${JSON.stringify({ json: { message: "no", data: { berth } } })}\n\n`,
      ),
  };
}
