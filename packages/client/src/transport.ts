/**
 * One request over tRPC's wire. Reads that are made together travel together; a mutation travels alone, so a slow
 * booking never holds up a page. Inputs go out as the plain JSON that they are, and of answers nothing else is read.
 */
import { createTRPCUntypedClient, httpBatchLink, httpLink, splitLink } from "@trpc/client";
import type { Operation, TRPCLink } from "@trpc/client";
import { observable } from "@trpc/server/observable";
import { readAnswer } from "./answer.ts";
import type { RequestInfo } from "./hooks.ts";
import type { WithResponse } from "./promise.ts";
import type { Session } from "./session.ts";
import { unreached, wireOf } from "./wire.ts";

/** The most reads in one request; the server takes somewhat more. */
const BATCH_MAX = 50;

/** The most bytes of one read in a batch: a full one stays under the 1 MiB that the server takes. */
const BATCHED_BYTES_MAX = 20_000;

/** One try of a call. */
export interface Try {
  readonly kind: "read" | "mutation";
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly request: RequestInfo;
}

/** Sends one try and answers what the server did. */
export type Send = (attempt: Try) => Promise<WithResponse<unknown>>;

/** What is known of a try beside what tRPC answers. */
interface Trip {
  readonly request: RequestInfo;
  answer?: { readonly status: number; readonly headers: Headers };
  isShared: boolean;
}

const transformer = {
  input: {
    serialize: (json: unknown): unknown => ({ json }),
    deserialize: (value: unknown): unknown => value,
  },
  output: {
    serialize: (value: unknown): unknown => value,
    deserialize: readAnswer,
  },
};

export function createTransport(session: Session): Send {
  const shared = {
    url: `${session.address}/trpc`,
    transformer,
    methodOverride: "POST",
    headers: (sent: { op: Operation } | { opList: readonly Operation[] }) =>
      session.headers(headersOf("op" in sent ? [sent.op] : sent.opList)),
    fetch: (url: unknown, init?: object) => reach(session, String(url), init ?? {}),
  } as const;
  const client = createTRPCUntypedClient({
    links: [
      keepAnswer,
      splitLink({
        condition: ({ type, input }) => type === "query" && isSmall(input),
        true: httpBatchLink({ ...shared, maxItems: BATCH_MAX }),
        false: httpLink(shared),
      }),
    ],
  });
  return async ({ kind, input, signal, request }) => {
    const trip: Trip = { request, isShared: false };
    const more = { signal, context: { trip } };
    const data = await (kind === "read"
      ? client.query(request.method, input, more)
      : client.mutation(request.method, input, more));
    const { status = 200, headers = new Headers() } = trip.answer ?? {};
    const requestId = headers.get("x-request-id");
    return { data, requestId, status, headers, isShared: trip.isShared };
  };
}

function tripOf({ context }: Pick<Operation, "context">): Trip {
  return context["trip"] as Trip;
}

/** tRPC hands out the data alone. */
const keepAnswer: TRPCLink<never> =
  () =>
  ({ op, next }) =>
    observable((observer) =>
      next(op).subscribe({
        next(value) {
          const { response } = (value.context ?? {}) as { response?: Trip["answer"] };
          if (response) tripOf(op).answer = response;
          observer.next(value);
        },
        error: (error) => observer.error(error),
        complete: () => observer.complete(),
      }),
    );

/** What the calls of one request want sent with it; of two that want the same header the first one's. */
function headersOf(ops: readonly Operation[]): Record<string, string> {
  const trips = ops.map(tripOf);
  for (const trip of trips) trip.isShared = trips.length > 1;
  const retries = Math.max(...trips.map(({ request }) => request.attempt));
  const merged: Record<string, string> = {};
  for (const { request } of trips.reverse()) Object.assign(merged, request.headers);
  return retries > 0 ? { ...merged, "berth-retry-count": String(retries) } : merged;
}

/** A larger read travels alone. */
function isSmall(input: unknown): boolean {
  const text = JSON.stringify(input) ?? "";
  return new TextEncoder().encode(text).length <= BATCHED_BYTES_MAX;
}

/** What tRPC needs of a response, and what a failure is read from. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  json(): Promise<unknown>;
}

/**
 * Fetches and reads the whole body: a connection that breaks half-way through it is a server that was not reached, and
 * what does not speak the wire is somebody else's answer.
 */
async function reach(session: Session, url: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  let body: string;
  try {
    response = await session.fetch(url, init);
    body = await response.text();
  } catch (cause) {
    throw unreached(url, cause);
  }
  const parsed = wireOf(response, body);
  const { ok, status, headers } = response;
  return { ok, status, headers, json: () => Promise.resolve(parsed) };
}
