/** Keys of calls as the document tells of them: in the body or as a header, and one of the two there must be. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestServer, startServer } from "../harness.ts";
import {
  keysNeeded,
  operationsOf,
  plainOf,
  readDocument,
  solid,
} from "../security/document/openapi.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Keyed {
  readonly idempotencyKey: string;
}

function exampleOf({ examples }: { examples?: Record<string, { value: unknown }> }): Keyed {
  const plain = examples?.["plain"];
  if (!plain) throw new Error("there is no plain example");
  return plain.value as Keyed;
}

it("a body may leave its key to the header, and a call with neither is INVALID_INPUT", async () => {
  const document = await readDocument(server.url);
  const keyed = plainOf(operationsOf(document)).filter(({ headers }) =>
    headers.includes("Idempotency-Key"),
  );
  const needing: string[] = [];
  for (const { method, path } of keyed) {
    const media = document.paths[path]?.["post"]?.requestBody?.content["application/json"];
    if (!media) throw new Error(`${path} takes no body`);
    const schema = solid(document, media.schema);
    expect(schema.required, method).not.toContain("idempotencyKey");
    if (!keysNeeded(schema).includes("idempotencyKey")) continue;
    needing.push(method);
    const { idempotencyKey: key, ...body } = exampleOf(media);
    const faults = async (headers: Record<string, string>) => {
      const answer = await server.http(method, body, { headers });
      return answer.body["code"] === "INVALID_INPUT" ? answer.body["issues"] : [];
    };
    expect(await faults({}), method).toMatchObject([{ path: ["idempotencyKey"] }]);
    // Of what the example names nothing is here; its key is none of what is wrong.
    expect(await faults({ "idempotency-key": key }), method).toEqual([]);
  }
  expect(needing.toSorted()).toEqual([
    "capacity.preview",
    "reservations.create",
    "reservations.quote",
  ]);
});
