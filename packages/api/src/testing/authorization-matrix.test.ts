import { METHOD_NAMES } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORIZATION_MATRIX, IDS, expectedCode } from "./authorization-matrix.ts";
import { type TestApi, testApi } from "./test-api.ts";
import { PERSONAS, type World, absentWorld, makeWorld } from "./world.ts";

let it: TestApi;
let worlds: Record<(typeof IDS)[number], World>;

beforeAll(async () => {
  it = await testApi();
  const own = await makeWorld(it.invoke, it.admin);
  const other = await makeWorld(it.invoke, it.admin, "b");
  worlds = { own, other, absent: absentWorld(other) };
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
      const expected: Record<string, string> = {};
      for (const persona of PERSONAS)
        for (const ids of IDS) {
          const name = `${persona}, ${ids} ids`;
          const input = row.input(worlds[ids], persona);
          got[name] = (await it.outcome(method, input, worlds.own.tokens[persona])).code;
          expected[name] = expectedCode(row, persona, ids);
        }
      expect(got).toEqual(expected);
    });
});
