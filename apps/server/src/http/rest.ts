/**
 * `POST /api/compute/{group}/{method}`: JSON in, JSON out, a static route a method, through the same
 * function as tRPC's procedure. Errors are problems.
 */
import { type Api, type ApiContext, ApiError, toApiError } from "@berth/api";
import { METHOD_NAMES, type MethodName, VERSION_BESIDE, catalog, schemasOf } from "@berth/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bodyLimitOf, callerGone, contextOf, failed, recordOf, refused } from "./calls.ts";
import { takeJson } from "./json-body.ts";
import type { Gatekeeper } from "./limits.ts";
import { fromThrown, sendProblem } from "./problem.ts";
import { type Twins, withTwins } from "./twins.ts";

export interface SurfaceOptions {
  readonly api: Api;
  readonly gatekeeper: Gatekeeper;
}

export function rest(scope: FastifyInstance, { api, gatekeeper }: SurfaceOptions): void {
  speakJson(scope);
  for (const method of METHOD_NAMES) {
    // A stream has a GET of its own.
    if (catalog[method].kind === "subscription") continue;
    const twins = twinsOf(method);
    scope.route({
      method: "POST",
      url: `/api/compute/${method.replace(".", "/")}`,
      bodyLimit: bodyLimitOf(method),
      onRequest: async (request, reply) => {
        request.calls = [recordOf(method)];
        await gatekeeper.admit(request, reply, 1);
      },
      handler: (request, reply) =>
        answer(request, reply, { api, twins, method, given: bodyOf(request) }),
    });
  }
}

/** Bodies are JSON or nothing, and what is refused before its call is a problem as well. */
export function speakJson(scope: FastifyInstance): void {
  // A call without input may come without a body, whatever its content type says.
  takeJson(scope, "rest", ({ value }) => value);
  scope.setErrorHandler((thrown, request, reply) => {
    const error = fromThrown(thrown);
    refused(request, error);
    return sendProblem(reply, error);
  });
}

/**
 * A POST is its body. A field in the query would go unheeded, and with `?dryRun=true` the call would be made in
 * earnest.
 * @throws ApiError INVALID_INPUT that names the field
 */
export function bodyOf({ query, body }: FastifyRequest): unknown {
  const [field] = Object.keys(query as object);
  if (field === undefined) return body === undefined ? {} : body;
  const message = "goes in the body: a POST has no query";
  throw new ApiError("INVALID_INPUT", {
    message: `${field}: ${message}`,
    issues: [{ path: [field], message }],
  });
}

interface Asked {
  readonly api: Api;
  readonly twins: Twins;
  readonly method: MethodName;
  /** The input, but for what the headers say of it. */
  readonly given: unknown;
}

/** The method's output, or its error as a problem. */
export async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { api, twins, method, given }: Asked,
): Promise<unknown> {
  const { input, ifMatch } = withTwins(request.headers, given, twins);
  const context = contextOf(request);
  const signal = callerGone(reply);
  try {
    const output = await api.invoke({
      method,
      context,
      signal,
      ifMatch,
      rawInput: () => Promise.resolve(input),
    });
    answerHeaders(reply, context);
    return output;
  } catch (thrown) {
    const error = toApiError(thrown);
    failed(request, error.code);
    answerHeaders(reply, context);
    return sendProblem(reply, error);
  }
}

/** Where in its pool's order the answer stands, and whether a key was replayed. */
function answerHeaders(reply: FastifyReply, { answer: shown }: ApiContext): void {
  if (shown.seq !== undefined) void reply.header("x-berth-seq", String(shown.seq));
  if (shown.replayed) void reply.header("idempotent-replayed", "true");
}

export function twinsOf(method: MethodName): Twins {
  const { input } = schemasOf(method);
  const shape = "shape" in input ? Object.keys(input.shape ?? {}) : [];
  return {
    mutation: catalog[method].kind === "mutation",
    idempotencyKey: shape.includes("idempotencyKey"),
    version: shape.includes("version") ? "field" : VERSION_BESIDE.has(method) ? "beside" : "none",
  };
}
