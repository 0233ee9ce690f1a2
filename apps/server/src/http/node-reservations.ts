/**
 * `/v1/nodes/{nodeId}/reservations…`: the unit reservations' paths and verbs as their first callers know
 * them, through the same procedures as everything else.
 */
import { ApiError } from "@berth/api";
import { REST_ROUTES, type RestRoute, pathFields } from "@berth/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { bodyLimitOf, recordOf } from "./calls.ts";
import { type SurfaceOptions, answer, bodyOf, speakJson, twinsOf } from "./rest.ts";

export function nodeReservations(
  scope: FastifyInstance,
  { api, gatekeeper }: SurfaceOptions,
): void {
  speakJson(scope);
  for (const route of REST_ROUTES) {
    const { method, verb, path, status } = route;
    const twins = twinsOf(method);
    scope.route({
      method: verb,
      url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      bodyLimit: bodyLimitOf(method),
      onRequest: async (request, reply) => {
        request.calls = [recordOf(method)];
        await gatekeeper.admit(request, reply, 1);
      },
      handler(request, reply) {
        // An error's own status replaces it.
        void reply.code(status);
        return answer(request, reply, { api, twins, method, given: inputOf(route, request) });
      },
    });
  }
}

function inputOf(route: RestRoute, request: FastifyRequest): unknown {
  const { params, query } = request;
  const given = route.verb === "GET" ? readQuery(query as object) : bodyOf(request);
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  for (const field of pathFields(route))
    if (Object.hasOwn(given, field)) {
      const message = "is named by the path, and nowhere else";
      throw new ApiError("INVALID_INPUT", {
        message: `${field}: ${message}`,
        issues: [{ path: [field], message }],
      });
    }
  return { ...given, ...(params as object) };
}

/** A query holds texts; where a number is meant, one that is written as such is read. */
function readQuery(query: object): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) =>
      name === "limit" && typeof value === "string" && /^\d{1,9}$/.test(value)
        ? [name, Number(value)]
        : [name, value],
    ),
  );
}
