/** Who may call what, over real HTTP: every method, every kind of caller, one answer each. */
import { METHOD_NAMES, errors } from "@berth/contract";
import {
  AUTHORIZATION_MATRIX,
  type Invoke,
  PERSONAS,
  type World,
  makeWorld,
} from "@berth/api/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, type TestServer, startServer } from "./harness.ts";

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
    const { status, body } = await server.http(method, input(world, persona), {
      token: world.tokens[persona],
    });
    const expected = codes[persona];
    expect(body["code"] ?? "OK", JSON.stringify(body)).toBe(expected);
    expect(status).toBe(expected === "OK" ? 200 : errors[expected].http);
  });
});
