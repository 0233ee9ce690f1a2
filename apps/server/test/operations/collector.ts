/** A collector that takes OTLP over HTTP as JSON, and can be slow, broken or gone. */
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One span as it was sent, its attributes as a record. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 2 = server, 3 = client, 1 = internal. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startMs: number;
  readonly endMs: number;
  /** 2 = error. */
  readonly status: number;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: SentSpan[];
  /** Of every request, as it was sent. */
  readonly bodies: string[];
  readonly headers: IncomingHttpHeaders[];
  readonly resources: Readonly<Record<string, unknown>>[];
  /** Resolves with the first spans that hold, however late they come. */
  until(holds: (spans: readonly SentSpan[]) => boolean): Promise<readonly SentSpan[]>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/** `answer`: the status of each export; "never" takes it and says nothing. */
export async function startCollector(
  answer: () => number | "never" = () => 200,
): Promise<Collector> {
  const collected: Pick<Collector, "spans" | "bodies" | "headers" | "resources"> = {
    spans: [],
    bodies: [],
    headers: [],
    resources: [],
  };
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const status = answer();
      collected.bodies.push(body);
      collected.headers.push(request.headers);
      if (status === "never") return;
      if (status === 200 && request.url === "/v1/traces") take(JSON.parse(body) as Export);
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
      for (const look of waiting) look();
    });
  });
  const take = ({ resourceSpans }: Export): void => {
    for (const { resource, scopeSpans } of resourceSpans) {
      collected.resources.push(recordOf(resource.attributes));
      for (const { spans } of scopeSpans) collected.spans.push(...spans.map(spanOf));
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ...collected,
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds(collected.spans)) return;
          waiting.delete(look);
          resolve(collected.spans);
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spanOf(span: WireSpan): SentSpan {
  const ms = (nanos: string) => Number(BigInt(nanos) / 1_000n) / 1_000;
  return {
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    kind: span.kind,
    attributes: recordOf(span.attributes ?? []),
    links: span.links ?? [],
    startMs: ms(span.startTimeUnixNano),
    endMs: ms(span.endTimeUnixNano),
    status: span.status?.code ?? 0,
  };
}

function recordOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
