/**
 * Who may call what: every method, over every surface that it has, by every kind of caller, with ids of its own
 * world, of another tenant's and of nobody's, each answered as one table says.
 */
import {
  AUTHORIZATION_MATRIX,
  IDS,
  type Ids,
  PERSONAS,
  type Persona,
  expectedCode,
} from "@berth/api/testing";
import { METHOD_NAMES, type MethodName, errors } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, answerOf, askOf, documentedPath, surfacesOf } from "./surfaces.ts";
import { type Worlds, rowsOf, twoWorlds } from "./worlds.ts";

let worlds: Worlds;
/** B's rows, as they are whoever of A calls. */
let theirs: Record<string, string>;
beforeAll(async () => {
  worlds = await twoWorlds();
  theirs = await rowsOf(worlds, worlds.other);
});
afterAll(async () => {
  await worlds.server.expectHealthy();
  await worlds.server.stop();
});

it("every method has a row, and every row a method", () => {
  expect(Object.keys(AUTHORIZATION_MATRIX).toSorted()).toEqual([...METHOD_NAMES].toSorted());
});

it("every path that the document has belongs to a row", async () => {
  const response = await fetch(`${worlds.server.url}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  const asked = METHOD_NAMES.flatMap((method) =>
    surfacesOf(method).map((surface) => documentedPath(surface, method)),
  );
  const documented = Object.keys(paths).filter((path) => /^\/(?:api|v1|trpc)\//.test(path));
  expect(documented.filter((path) => !asked.includes(path))).toEqual([]);
  expect(documented.length).toBeGreaterThan(METHOD_NAMES.length);
});

it("the other tenant has rows to be left alone", () => {
  const filled = Object.entries(theirs).filter(([, digest]) => !digest.startsWith("0 rows"));
  expect(filled.map(([table]) => table)).toEqual(
    expect.arrayContaining(["api_keys", "events", "nodes", "pools", "reservations", "units"]),
  );
});

describe.each([...METHOD_NAMES])("%s", (method) => {
  it.each([...PERSONAS])("answers %s as the table says", async (persona) => {
    const row = AUTHORIZATION_MATRIX[method];
    const got = await answersTo(method, persona);
    const expected = Object.fromEntries(
      Object.keys(got).map((name) => {
        const code = expectedCode(row, persona, name.split(" ")[1] as Ids);
        return [name, [code, code === "OK" ? 200 : errors[code].http]];
      }),
    );
    const seen = Object.entries(got).map(([name, { code, status }]) => [
      name,
      [code, code === "OK" && status === 201 ? 200 : status],
    ]);
    expect(Object.fromEntries(seen)).toEqual(expected);
    if (persona === "fleetAdmin") theirs = await rowsOf(worlds, worlds.other);
    else await expectHidden(got);
  });
});

/** By surface and by whose ids. */
async function answersTo(method: MethodName, persona: Persona): Promise<Record<string, Answer>> {
  const { server, own } = worlds;
  const answers: Record<string, Answer> = {};
  for (const [turn, surface] of surfacesOf(method).entries())
    for (const ids of IDS) {
      const input = AUTHORIZATION_MATRIX[method].input(worlds[ids], persona, turn);
      const ask = askOf(surface, method, input);
      answers[`${surface} ${ids}`] = await answerOf(server.url, ask, own.tokens[persona]);
    }
  return answers;
}

/** Another's ids are answered as nobody's, byte for byte, and nothing of theirs has changed. */
async function expectHidden(got: Record<string, Answer>): Promise<void> {
  for (const [name, answer] of Object.entries(got))
    if (name.endsWith(" other") && answer.code !== "OK")
      expect({ name, ...answer }).toEqual({ name, ...got[name.replace(" other", " absent")] });
  expect(await rowsOf(worlds, worlds.other)).toEqual(theirs);
}
