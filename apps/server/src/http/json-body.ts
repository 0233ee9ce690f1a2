/** Bodies as every surface takes them: strict JSON in UTF-8, as it is, or nothing. */
import { ApiError, NotJson, bodyLimits, strictJson } from "@berth/api";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * How much a body may hold is counted before it is parsed, by the one method that it is for.
 *
 * @param read makes of a body's text and value what handlers get; the text of an empty one is ""
 */
export function takeJson(
  scope: FastifyInstance,
  surface: "rest" | "trpc",
  read: (body: ReturnType<typeof strictJson>) => unknown,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request, body, done) => {
      try {
        refuseOtherForms(request);
        const [call, ...others] = request.calls;
        const method = call && others.length === 0 ? call.method : "unknown";
        done(null, read(strictJson(body, bodyLimits(method, surface))));
      } catch (error) {
        done(error instanceof NotJson ? refusal(error.why) : (error as Error));
      }
    },
  );
}

/** JSON has one encoding, and what is unpacked could be a thousand times what was sent. */
function refuseOtherForms({ headers }: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers["content-type"] ?? "")?.[1];
  if (charset !== undefined && charset.toLowerCase() !== "utf-8")
    throw new NotJson("it is not UTF-8");
  if (headers["content-encoding"] !== undefined) throw new NotJson("it is compressed");
}

/** An input that comes in the address is held to what a body is. @throws ApiError INVALID_INPUT */
export function mindJson(text: string): void {
  try {
    strictJson(Buffer.from(text));
  } catch (error) {
    throw error instanceof NotJson ? refusal(error.why, "input") : error;
  }
}

function refusal(why: string, what = "body"): ApiError {
  const message =
    why === "" ? `The ${what} is not valid JSON.` : `The ${what} is not JSON: ${why}.`;
  return new ApiError("INVALID_INPUT", { message });
}
