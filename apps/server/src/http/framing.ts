/**
 * What is wrong with a request before it is one. Node's parser refuses most of what two servers could read as
 * two requests; here is what it lets through, and how what it refuses is answered.
 */
import { randomUUID } from "node:crypto";
import { ApiError } from "@berth/api";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { toProblem } from "./problem.ts";

/** Of these a second one is another opinion of who asks whom. */
const ONCE = new Set(["host", "authorization", "content-type", "idempotency-key", "if-match"]);

/**
 * Hangs up on whoever is refused: what comes next on that connection is no more to be trusted.
 * @throws ApiError INVALID_INPUT when a header that may stand once stands twice, or there is no host, which
 * Node would refuse without a word
 */
export function refuseHeaders(request: IncomingMessage, response: ServerResponse): void {
  const { rawHeaders, headers, httpVersion } = request;
  if (headers.host === undefined && httpVersion !== "1.0") {
    response.setHeader("connection", "close");
    throw new ApiError("INVALID_INPUT", { message: "The header host is missing." });
  }
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

/**
 * Answers bytes that are no request, and hangs up. Whoever has had part of an answer gets no second one.
 * @param publicUrl what a problem's address begins with
 */
export function answerGarbage(publicUrl: string) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const late = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const answered = socket.bytesWritten > 0 && !late;
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable || answered) {
      socket.destroy();
      return;
    }
    const [status, reason] = STATUS[error.code ?? ""] ?? [400, "Bad Request"];
    const message = status === 400 ? "This is not an HTTP request." : `${reason}.`;
    const id = randomUUID();
    const problem = toProblem(new ApiError("INVALID_INPUT", { message }), id, publicUrl);
    const body = JSON.stringify({ ...problem, status });
    const headers = [
      `HTTP/1.1 ${status} ${reason}`,
      "connection: close",
      "content-type: application/problem+json",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      `x-should-retry: ${problem.retryable}`,
    ];
    socket.end(`${headers.join("\r\n")}\r\n\r\n${body}`);
  };
}

/** An expectation that is not 100-continue, which Node would refuse without a word. */
export function refuseExpectation(publicUrl: string) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const message = "The header expect can only be 100-continue.";
    const id = randomUUID();
    const problem = toProblem(new ApiError("INVALID_INPUT", { message }), id, publicUrl);
    request.resume();
    response
      .writeHead(417, {
        connection: "close",
        "content-type": "application/problem+json",
        "x-request-id": id,
        "x-should-retry": String(problem.retryable),
      })
      .end(JSON.stringify({ ...problem, status: 417 }));
  };
}
