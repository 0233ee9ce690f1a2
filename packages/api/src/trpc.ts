/**
 * The only place that calls initTRPC. Authentication stands before everything: an input is not even parsed
 * for a caller without a key. Errors leave in one shape, without a stack.
 */
import { errors } from "@berth/contract";
import { TRPCError, initTRPC } from "@trpc/server";
import superjson from "superjson";
import type { Answer, Log, Principal } from "./call.ts";
import { MARK_MS } from "./feed/watcher.ts";
import { type ApiError, logFields, toApiError, toWire } from "./errors.ts";
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

/** The one base of every procedure: authenticate, then parse, then the chain in authorize.ts. */
export const procedure = t.procedure.use(async ({ ctx, next, path }) => {
  const decide = async () => {
    try {
      const principal = await ctx.authenticate();
      const result = await next({ ctx: { principal } });
      return result.ok ? result : { ...result, error: wrapped(result.error, ctx, path) };
    } catch (thrown) {
      throw wrapped(thrown, ctx, path);
    }
  };
  return ctx.around ? ctx.around(path, decide) : decide();
});

/** tRPC picks its codes from its own error class; what was unexpected is logged here, once. */
function wrapped(thrown: unknown, ctx: ApiContext, path: string): TRPCError {
  const cause = toApiError(thrown);
  if (cause.code === "INTERNAL" || cause.code === "UNAVAILABLE") logFailure(cause, ctx, path);
  return new TRPCError({ code: errors[cause.code].trpc, message: cause.publicMessage, cause });
}

function logFailure(error: ApiError, ctx: ApiContext, method: string): void {
  const fields = { requestId: ctx.requestId, method, ...logFields(error) };
  if (error.code === "INTERNAL") ctx.log.error(fields, "a call failed");
  // Nothing is wrong with the server, and callers hang up as often as they like.
  else if (error.cause instanceof Error && error.cause.name === "Cancelled")
    ctx.log.info({ requestId: ctx.requestId, method }, "the caller went away before the answer");
  else ctx.log.warn(fields, "a call could not be answered");
}
