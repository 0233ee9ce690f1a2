/**
 * Gives up connections on which nothing comes or goes. The driver waits for an answer as long as TCP does,
 * and that waits a quarter of an hour for a peer that vanished; keep-alives say nothing while a question is
 * out. Measured on the bare socket's counters, so TLS and the driver's own listeners make no difference.
 */
import { type Socket, connect } from "node:net";

/** Where the driver wants to be connected to: of several hosts it takes the first that answers. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket; false without. */
  readonly path?: string | false;
}

/** The driver's option `socket`: how a client opens its connections. */
export type OpenSocket = (target: Target) => Socket;

const LOOKS = 10;

/** @param silentMs closed when silent for so long: above whatever a statement may take, and an idle time */
export function closingWhenSilent(silentMs: number): OpenSocket {
  let next = 0;
  return ({ host, port, path }) => {
    const at = next++ % port.length;
    const to = path ? { path } : { host: host[at] ?? "localhost", port: port[at] ?? 5432 };
    const socket = connect(to);
    watch(socket, silentMs);
    // Without an error the driver would go on connecting to somebody who accepts and hangs up.
    socket.once("end", () => {
      if (socket.bytesRead === 0) socket.destroy(broken("ECONNRESET", "it hung up at once"));
    });
    // The driver asks for the certificate of this name.
    return Object.assign(socket, "host" in to ? { host: to.host } : {});
  };
}

function watch(socket: Socket, silentMs: number): void {
  let seen = -1;
  let since = performance.now();
  // Not stopped by a listener: for TLS the driver removes every listener of the bare socket.
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    const moved = socket.bytesRead + socket.bytesWritten;
    const now = performance.now();
    if (moved !== seen) [seen, since] = [moved, now];
    else if (now - since >= silentMs)
      socket.destroy(broken("ETIMEDOUT", `nothing came for ${silentMs} ms`));
  }, silentMs / LOOKS);
  timer.unref();
}

function broken(code: string, message: string): Error {
  return Object.assign(new Error(`the connection to the database broke: ${message}`), { code });
}
