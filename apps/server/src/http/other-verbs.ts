/** A path that is there answers a verb that it does not take with 405 and the ones that it does. */
import { ApiError } from "@berth/api";
import type { FastifyInstance, HTTPMethods } from "fastify";
import { sendProblem } from "./problem.ts";

const VERBS: readonly HTTPMethods[] = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
];

/** Notes the routes that are made from here on; the function that it returns makes the rest. */
export function refuseOtherVerbs(app: FastifyInstance): () => void {
  const taken = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const verbs = taken.get(url) ?? new Set();
    for (const verb of [method].flat()) verbs.add(verb);
    taken.set(url, verbs);
  });
  return () => {
    for (const [url, verbs] of [...taken]) {
      const allow = [...verbs].toSorted().join(", ");
      app.route({
        method: VERBS.filter((verb) => !verbs.has(verb)),
        url,
        exposeHeadRoute: false,
        handler: (request, reply) =>
          sendProblem(
            reply.header("allow", allow),
            new ApiError("INVALID_INPUT", {
              message: `This path takes ${allow}, not ${request.method}.`,
            }),
            405,
          ),
      });
    }
  };
}
