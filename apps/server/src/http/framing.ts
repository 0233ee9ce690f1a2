/**
 * What is wrong with a request before it is one. Node's parser refuses most of what two servers could read as
 * two requests; here is what it lets through, and how what it refuses is answered.
 */
import { ApiError } from "@berth/api";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { toProblem } from "./problem.ts";

/** Of these a second one is another opinion of who asks whom. */
const ONCE = new Set(["host", "authorization", "content-type", "idempotency-key", "if-match"]);

/**
 * Hangs up on whoever is refused: what comes next on that connection is no more to be trusted.
 * @throws ApiError INVALID_INPUT when a header that may stand once stands twice
 */
export function refuseRepeats({ rawHeaders }: IncomingMessage, response: ServerResponse): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) {
      response.setHeader("connection", "close");
      throw new ApiError("INVALID_INPUT", { message: `The header ${name} is given twice.` });
    }
    seen.add(name);
  }
}

const STATUS: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

/** Answers bytes that are no request, and hangs up. Whoever has had part of an answer gets no second one. */
export function answerGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  if (socket.bytesWritten > 0 && error.code !== "ERR_HTTP_REQUEST_TIMEOUT") {
    socket.destroy();
    return;
  }
  const [status, reason] = STATUS[error.code ?? ""] ?? [400, "Bad Request"];
  const message = status === 400 ? "This is not an HTTP request." : `${reason}.`;
  const body = JSON.stringify({
    ...toProblem(new ApiError("INVALID_INPUT", { message }), ""),
    status,
  });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
