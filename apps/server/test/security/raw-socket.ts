/** Bytes to a server as they are, and what came back until it hung up or had nothing more to say. */
import { connect } from "node:net";

export interface RawAnswer {
  /** All that was received. */
  readonly text: string;
  /** Of every response in it, in order. */
  readonly statuses: readonly number[];
  /** The server ended the connection; else it was we who stopped waiting. */
  readonly closed: boolean;
  /** From the connection to its end. */
  readonly ms: number;
}

export interface RawOptions {
  /** Once it has begun to answer, the connection is left after so long without a byte. Default 1 s. */
  readonly quietMs?: number;
  /** It is left after so long in any case. Default 12 s. */
  readonly patienceMs?: number;
  /** Our side is ended once the bytes are sent. */
  readonly halfClose?: boolean;
}

/** @param bytes text is sent as Latin-1 */
export function sendRaw(
  url: string,
  bytes: string | Buffer,
  { quietMs = 1_000, patienceMs = 12_000, halfClose = false }: RawOptions = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const started = performance.now();
  const { promise, resolve } = Promise.withResolvers<RawAnswer>();
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = "";
  const over = (closed: boolean): void => {
    clearTimeout(late);
    socket.destroy();
    const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, code]) => Number(code));
    resolve({ text, statuses, closed, ms: performance.now() - started });
  };
  const late = setTimeout(() => over(false), patienceMs);
  socket.once("data", () => socket.setTimeout(quietMs, () => over(false)));
  socket.on("data", (data) => (text += data.toString("latin1")));
  for (const event of ["end", "close", "error"]) socket.once(event, () => over(true));
  const data = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  if (halfClose) socket.end(data);
  else socket.write(data);
  return promise;
}

/** A whole request; `host`, `connection: close` and `content-length` are added unless `headers` has them. */
export function rawRequest(
  line: string,
  headers: readonly string[] = [],
  body: string | null = null,
): string {
  const has = (name: string) => headers.some((header) => header.toLowerCase().startsWith(name));
  const length = body === null || has("content-length") || has("transfer-encoding");
  return [
    `${line} HTTP/1.1`,
    ...(has("host") ? [] : ["host: berth.test"]),
    ...(has("connection") ? [] : ["connection: close"]),
    ...headers,
    ...(length ? [] : [`content-length: ${Buffer.byteLength(body, "latin1")}`]),
    "",
    body ?? "",
  ].join("\r\n");
}
