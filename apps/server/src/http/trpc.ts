/** `/trpc/{group}.{method}[,…]`: what the typed client speaks; up to 50 calls in one request. */
import { type ApiContext, ApiError, toApiError, toWire } from "@berth/api";
import { METHOD_NAMES, catalog, errors } from "@berth/contract";
import { fastifyRequestHandler } from "@trpc/server/adapters/fastify";
import { TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bodyLimitOf, contextOf, failed, hangingUp, recordOf, refused } from "./calls.ts";
import { mindJson, takeJson } from "./json-body.ts";
import { CHALLENGE, errorHeaders, fromThrown, notJson } from "./problem.ts";
import { STREAM_HEADERS } from "./event-stream.ts";
import type { SurfaceOptions } from "./rest.ts";

const BATCH_MAX = 50;
const STREAMS: ReadonlySet<string> = new Set(
  METHOD_NAMES.filter((name) => catalog[name].kind === "subscription"),
);

export function trpc(scope: FastifyInstance, { api, gatekeeper }: SurfaceOptions): void {
  // tRPC parses the text itself, after the key was checked.
  takeJson(scope, "trpc", ({ text }) => text);
  scope.setErrorHandler((thrown, request, reply) =>
    sendTrpcError(reply, request, fromThrown(thrown)),
  );

  const route = (url: string, bodyLimit: number, pathOf: (request: FastifyRequest) => string) =>
    scope.route({
      method: ["GET", "POST"],
      url,
      exposeHeadRoute: false,
      bodyLimit,
      onRequest: async (request, reply) => {
        const names = pathOf(request).split(",");
        request.calls = names.slice(0, BATCH_MAX).map(recordOf);
        await gatekeeper.admit(request, reply, request.calls.length);
        if (names.length > BATCH_MAX) throw tooManyCalls(names.length);
        refuseUnreadable(request, names);
      },
      handler: (request, reply) => answer(request, reply, { api, path: pathOf(request) }),
    });
  // The one call with a larger body has a route of its own; in a batch it is as small as any.
  route("/trpc/fleet.putNodes", bodyLimitOf("fleet.putNodes"), () => "fleet.putNodes");
  route("/trpc/:path", bodyLimitOf(""), (request) => (request.params as { path: string }).path);
}

/** What tRPC refuses before it knows whose request it is, so that its answer could not name the request. */
function refuseUnreadable(
  { method, headers, query, url }: FastifyRequest,
  names: readonly string[],
): void {
  // tRPC decodes the path once more, and would run calls that were not counted.
  if (names.some((name) => name.includes("%"))) throw new ApiError("NOT_FOUND");
  const json = /^application\/json\b/i.test(headers["content-type"] ?? "");
  if (method === "POST" && !json) throw notJson();
  if (Object.hasOwn(query as object, "connectionParams"))
    throw new ApiError("INVALID_INPUT", { message: "There are no connection parameters here." });
  // Read as tRPC will read it, which is not quite as the router does.
  const inputs = URL.parse(url, "http://localhost")?.searchParams.getAll("input") ?? [];
  for (const input of inputs) mindJson(input);
  const stream = names.find((name) => STREAMS.has(name));
  if (stream !== undefined && (names.length > 1 || Object.hasOwn(query as object, "batch")))
    throw new ApiError("INVALID_INPUT", { message: `${stream} is a stream: open it by itself.` });
}

const tooManyCalls = (calls: number) =>
  new ApiError("INVALID_INPUT", {
    message: `One request carries at most ${BATCH_MAX} calls, this one has ${calls}: send them in several.`,
  });

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { api, path }: Pick<SurfaceOptions, "api"> & { readonly path: string },
): Promise<void> {
  await fastifyRequestHandler({
    req: request,
    res: reply,
    path,
    router: api.router,
    allowMethodOverride: true,
    maxBatchSize: BATCH_MAX,
    createContext: () => hangingUp(contextOf(request), reply),
    onError({ path: failing, error }) {
      const call = request.calls.find((each) => each.method === failing && each.code === "OK");
      const { code } = toApiError(error);
      if (call) call.code = code;
      else failed(request, code);
    },
    responseMeta: ({ errors: thrown, type }) => ({
      headers: {
        ...(type === "subscription" ? STREAM_HEADERS : {}),
        ...(request.calls.length === 1 ? singleHeaders(contextOf(request).answer) : {}),
        ...(thrown.length > 0 ? { "x-should-retry": String(allRetryable(thrown)) } : {}),
        ...(thrown.some(isUnknownCaller) ? CHALLENGE : {}),
      },
    }),
  });
}

/** Only an answer about one call has one place in one pool's order. */
function singleHeaders(shown: ApiContext["answer"]): Record<string, string> {
  return {
    ...(shown.seq === undefined ? {} : { "x-berth-seq": String(shown.seq) }),
    ...(shown.replayed ? { "idempotent-replayed": "true" } : {}),
  };
}

const allRetryable = (thrown: readonly unknown[]) =>
  thrown.every((error) => errors[toApiError(error).code].retryable);

/** A key that was good at the door may be gone when the call is run. */
const isUnknownCaller = (error: unknown) => errors[toApiError(error).code].http === 401;

/** A refusal before tRPC saw the request, in the shape of tRPC's own errors; it holds for the whole batch. */
function sendTrpcError(
  reply: FastifyReply,
  request: FastifyRequest,
  error: ApiError,
): FastifyReply {
  refused(request, error);
  errorHeaders(reply, error);
  const { http, trpc: code } = errors[error.code];
  const berth = toWire(error, request.id);
  const shape = {
    message: error.publicMessage,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: { code, httpStatus: http, berth },
  };
  return reply.code(http).send({ error: { json: shape } });
}
