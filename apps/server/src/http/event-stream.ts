/**
 * `GET /api/compute/events/stream`: reservations.watch for whoever has an EventSource, curl or a few lines of
 * Python. A cursor is each event's id, so `Last-Event-ID` resumes; what is refused before the first byte is a
 * problem, what ends a stream after that an event of that name.
 */
import { Readable } from "node:stream";
import { type Api, toApiError } from "@berth/api";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { callerGone, contextOf, failed, hangingUp, recordOf } from "./calls.ts";
import { sendProblem, toProblem } from "./problem.ts";
import type { SurfaceOptions } from "./rest.ts";

export const STREAM_PATH = "/api/compute/events/stream";
const METHOD = "reservations.watch";

/** Nothing on the way may keep it, or hold it back until there is more. */
export const STREAM_HEADERS = {
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/** How long an EventSource waits before it comes back, milliseconds. */
const RETRY_MS = 1_000;

/** What the stream of the API is made of: the cursor, and the event or null for a sign of life. */
type Step = readonly [cursor: string, event: { readonly type: string } | null];

export function eventStream(scope: FastifyInstance, { api, gatekeeper }: SurfaceOptions): void {
  scope.route({
    method: "GET",
    url: STREAM_PATH,
    // A HEAD would be answered and over while its stream, which nobody reads or leaves, stayed open.
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      request.calls = [recordOf(METHOD)];
      await gatekeeper.admit(request, reply, 1);
    },
    handler: (request, reply) => answer(request, reply, api),
  });
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  api: Api,
): Promise<FastifyReply> {
  const input = inputOf(request);
  try {
    const steps = await api.invoke({
      method: METHOD,
      context: hangingUp(contextOf(request), reply),
      signal: callerGone(reply),
      rawInput: () => Promise.resolve(input),
    });
    const text = Readable.from(frames(steps as AsyncIterable<Step>, request), {
      objectMode: false,
    });
    return await reply
      .headers({ ...STREAM_HEADERS, "content-type": "text/event-stream; charset=utf-8" })
      .send(text);
  } catch (thrown) {
    const error = toApiError(thrown);
    failed(request, error.code);
    return sendProblem(reply, error);
  }
}

/** A reconnecting EventSource says its last id in the header, and the address is the one it began with. */
function inputOf({ query, headers }: FastifyRequest): object {
  const { cursor, ...named } = query as Record<string, unknown>;
  const lastEventId = headers["last-event-id"] || cursor;
  return { ...named, ...(lastEventId === undefined ? {} : { lastEventId }) };
}

async function* frames(
  steps: AsyncIterable<Step>,
  request: FastifyRequest,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  try {
    for await (const [cursor, event] of steps) yield frame(cursor, event);
  } catch (thrown) {
    // Closed, to be opened again with the last id.
    if (thrown instanceof Error && thrown.name === "AbortError") return;
    const error = toApiError(thrown);
    failed(request, error.code);
    yield `event: problem\ndata: ${JSON.stringify(toProblem(error, request.id, request.server.publicUrl))}\n\n`;
  }
}

/** JSON has no line breaks of its own. Without data the id moves on and no event is dispatched. */
function frame(cursor: string, event: Step[1]): string {
  if (event === null) return `: still here\nid: ${cursor}\n\n`;
  return `id: ${cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
