/** Who may call what, over real HTTP: every method, every kind of caller, one answer each. */
import { METHOD_NAMES, catalog, errors } from "@berth/contract";
import {
  AUTHORIZATION_MATRIX,
  type Invoke,
  PERSONAS,
  type World,
  makeWorld,
} from "@berth/api/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type HttpAnswer, type TestServer, startServer } from "./harness.ts";

let server: TestServer;
let world: World;

const invoke: Invoke = async (method, input, token) => {
  const { status, body } = await server.http(method, input, { token });
  if (status !== 200) throw new Error(`${method} answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

beforeAll(async () => {
  server = await startServer();
  world = await makeWorld(invoke, ADMIN_KEY);
});
afterAll(async () => {
  await server.expectHealthy();
  await server.stop();
});

it("every method has a row, and every row a method", () => {
  expect(Object.keys(AUTHORIZATION_MATRIX).toSorted()).toEqual([...METHOD_NAMES].toSorted());
});

describe.each([...METHOD_NAMES])("%s", (method) => {
  it.each([...PERSONAS])("answers %s as the table says", async (persona) => {
    const { input, codes } = AUTHORIZATION_MATRIX[method];
    const token = world.tokens[persona];
    const ask = input(world, persona);
    const { status, body } =
      catalog[method].kind === "subscription"
        ? await opened(ask, token)
        : await server.http(method, ask, { token });
    const expected = codes[persona];
    expect(body["code"] ?? "OK", JSON.stringify(body)).toBe(expected);
    expect(status).toBe(expected === "OK" ? 200 : errors[expected].http);
  });
});

/** What opening the stream answers; it is left at once. */
async function opened(
  input: object,
  token: string | null,
): Promise<Pick<HttpAnswer, "status" | "body">> {
  const query = new URLSearchParams(Object.entries(input));
  const response = await fetch(`${server.url}/api/compute/events/stream?${query.toString()}`, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
  const { status } = response;
  if (status !== 200) return { status, body: (await response.json()) as HttpAnswer["body"] };
  await response.body?.cancel();
  return { status, body: {} };
}
