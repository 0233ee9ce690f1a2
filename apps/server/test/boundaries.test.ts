/** Every rule of every field of the groups capacity and pools, met from both sides over real HTTP. */
import { BOUNDARIES, boundaryName, boundaryRequest, stepsOf } from "@berth/contract/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestServer, startServer } from "./harness.ts";

let server: TestServer;
beforeAll(async () => {
  // The requests of the table come in quick succession from one principal.
  server = await startServer({ config: { rateLimit: 1_000_000 } });
});
afterAll(() => server.stop());

interface Issue {
  readonly path: readonly (string | number)[];
}

it.each(BOUNDARIES.map((boundary) => [boundaryName(boundary), boundary] as const))(
  "%s",
  async (_name, { method, field, accepts, refuses, later }) => {
    const where = JSON.stringify(stepsOf(field)).slice(0, -1);
    const pathsOf = (body: object) =>
      (Reflect.get(body, "issues") as readonly Issue[]).map(({ path }) => JSON.stringify(path));
    for (const value of accepts) {
      const request = boundaryRequest(method, field, value);
      // Well-formed, but about a tenant and a pool that do not exist.
      const { status, body } = await server.http(method, request);
      // Or good in itself, and no window with the default of another field: a start at the end of time.
      if (later && status === 400 && !pathsOf(body).some((path) => path.startsWith(where)))
        continue;
      expect(status, `accepts ${JSON.stringify(value)}: ${JSON.stringify(body)}`).toBe(404);
    }
    for (const value of refuses) {
      const request = boundaryRequest(method, field, value);
      const { status, body } = await server.http(method, request);
      expect(status, `refuses ${JSON.stringify(value)}`).toBe(400);
      expect(body["code"]).toBe("INVALID_INPUT");
      expect(
        pathsOf(body).filter((path) => !path.startsWith(where)),
        where,
      ).toEqual([]);
    }
  },
);
