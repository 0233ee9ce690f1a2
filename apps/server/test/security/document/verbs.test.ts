/** A path answers the verbs that the document gives it, and tells which they are when it is asked by another. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "../../harness.ts";
import { type Document, readDocument } from "./openapi.ts";

const VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
let server: TestServer;
let document: Document;
beforeAll(async () => {
  server = await startServer({ config: { rateLimit: 1_000_000 } });
  document = await readDocument(server.url);
});
afterAll(() => server.stop());

it("a verb that the document does not give a path is 405 and names those that it does", async () => {
  for (const [path, verbs] of Object.entries(document.paths)) {
    const taken = Object.keys(verbs).map((verb) => verb.toUpperCase());
    const url = `${server.url}${path.replaceAll(/\{\w+\}/g, "x")}`;
    for (const verb of VERBS.filter((each) => !taken.includes(each))) {
      const response = await fetch(url, {
        method: verb,
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      const what = `${verb} ${path}`;
      expect(response.status, what).toBe(405);
      const allowed = (response.headers.get("allow") ?? "")
        .split(", ")
        .filter((each) => each !== "HEAD");
      expect(allowed.toSorted(), what).toEqual(taken.toSorted());
      expect(response.headers.get("content-type"), what).toBe("application/problem+json");
      const body = (await response.json()) as Record<string, unknown>;
      expect(body["requestId"], what).toBe(response.headers.get("x-request-id"));
    }
  }
});

it("no body is an empty input, and null is none", async () => {
  const ask = (raw: string) => server.http("access.whoami", null, { raw });
  expect((await ask("")).status).toBe(200);
  expect(await ask("null")).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
});

it.each([
  ["", ""],
  ["a\n\u001b[31mb", "a\ufffd\ufffd[31mb"],
  ["\ud83d", "\ufffd"],
  ["😀".repeat(300), "😀".repeat(256)],
])("a field that a caller calls %j is named in whole, tame characters", async (name, shown) => {
  const { status, body } = await server.http("access.whoami", { [name]: 1 });
  expect(status).toBe(400);
  expect(body["issues"]).toEqual([{ path: [shown], message: "is not a field of this request" }]);
});
