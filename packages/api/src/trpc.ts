/** The only place that calls initTRPC. Errors leave in one shape, without a stack. */
import { type CatalogRow, errors } from "@berth/contract";
import { TRPCError, initTRPC } from "@trpc/server";
import superjson from "superjson";
import type { Answer, Log, Principal } from "./call.ts";
import { MARK_MS } from "./feed/watcher.ts";
import { toApiError, toWire } from "./errors.ts";
import type { Perform } from "./perform.ts";
import { readInput } from "./plain-input.ts";

/** What the transport knows of one request; made by `createApi().context`. */
export interface ApiContext {
  readonly requestId: string;
  readonly log: Log;
  /** The caller; the token is looked at once a request. @throws ApiError UNAUTHENTICATED */
  authenticate(): Promise<Principal>;
  /** As `authenticate`, asked anew: a stream outlives what was known when it began. */
  reauthenticate(): Promise<Principal>;
  /** Cuts the connection of a caller that does not read; the transport's to give. */
  hangUp?: (() => void) | undefined;
  /** Runs a call of the request, for whoever follows it: a trace. */
  around?: (<T>(method: string, work: () => Promise<T>) => Promise<T>) | undefined;
  /** A call begins to wait and costs nothing until it calls what it gets; for whoever counts the calls in work. */
  resting?: (() => () => void) | undefined;
  readonly answer: Answer;
  /** The version that `If-Match` names, for methods whose input has none. */
  readonly ifMatch?: number | undefined;
}

const t = initTRPC.context<ApiContext>().create({
  isDev: false,
  // Streams give signs of life themselves, with a place to resume at.
  sse: { ping: { enabled: false }, client: { reconnectAfterInactivityMs: 3 * MARK_MS } },
  transformer: {
    input: { serialize: superjson.serialize, deserialize: readInput },
    output: superjson,
  },
  errorFormatter({ shape, error, ctx, path }) {
    const apiError = toApiError(error);
    const berth = toWire(apiError, ctx?.requestId ?? "");
    const { http, trpc: code } = errors[apiError.code];
    return {
      code: shape.code,
      message: berth.message,
      data: { code, httpStatus: http, ...(path === undefined ? {} : { path }), berth },
    };
  },
});

export const router = t.router;

/** A procedure of tRPC around the function that every surface runs. */
export function procedureOf(kind: CatalogRow["kind"], perform: Perform) {
  const performed = t.procedure.use(async ({ ctx, getRawInput, signal, next }) => {
    const asked = { ctx, rawInput: getRawInput, signal };
    const output = await perform(asked).catch((thrown: unknown) => {
      throw wrapped(thrown);
    });
    return next({ ctx: { output } });
  });
  const answer = ({ ctx }: { readonly ctx: { readonly output: unknown } }): unknown => ctx.output;
  if (kind === "mutation") return performed.mutation(answer);
  if (kind === "read") return performed.query(answer);
  // What `perform` answers for one is a stream of steps.
  return performed.subscription((resolving) => answer(resolving) as AsyncIterable<unknown>);
}

/** tRPC picks its codes from its own error class. */
function wrapped(thrown: unknown): TRPCError {
  const cause = toApiError(thrown);
  return new TRPCError({ code: errors[cause.code].trpc, message: cause.publicMessage, cause });
}
