import { METHOD_NAMES } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORIZATION_MATRIX } from "./authorization-matrix.ts";
import { type TestApi, testApi } from "./test-api.ts";
import { PERSONAS, type World, makeWorld } from "./world.ts";

let it: TestApi;
let world: World;

beforeAll(async () => {
  it = await testApi();
  world = await makeWorld(it.invoke, it.admin);
});
afterAll(() => it.close());

test("every method of the contract has a row, and no other", () => {
  expect(Object.keys(AUTHORIZATION_MATRIX).toSorted()).toEqual(METHOD_NAMES.toSorted());
});

describe("each persona gets the code of the table", () => {
  for (const method of METHOD_NAMES)
    test(method, async () => {
      const row = AUTHORIZATION_MATRIX[method];
      const got: Record<string, string> = {};
      for (const persona of PERSONAS) {
        const input = row.input(world, persona);
        got[persona] = (await it.outcome(method, input, world.tokens[persona])).code;
      }
      expect(got).toEqual(row.codes);
    });
});
