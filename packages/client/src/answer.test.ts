/** Of an answer only its JSON and its absent fields are read, whatever else is written beside them. */
import superjson from "superjson";
import { describe, expect, it } from "vitest";
import { readAnswer } from "./answer.ts";

describe("an answer", () => {
  it.each([
    { id: "x", list: [1, { a: null }], none: null },
    { here: 1, gone: undefined, deep: { gone: undefined, kept: null } },
    { "with.dot": { gone: undefined }, "back\\slash": undefined, "": undefined },
    [{ a: undefined }, null],
    undefined,
    null,
    "text",
  ])("comes out as the server had it: %j", (value) => {
    expect(readAnswer(superjson.serialize(value))).toEqual(value);
    expect(Object.keys(Object(readAnswer(superjson.serialize(value))) as object)).toEqual(
      Object.keys(Object(JSON.parse(JSON.stringify(value) ?? "null") ?? {}) as object),
    );
  });

  it.each([
    [
      "a prototype",
      { "__proto__.polluted": ["undefined"], "constructor.prototype.polluted": ["undefined"] },
    ],
    ["a class", { when: ["Date"], re: ["regexp"], error: ["Error"], made: [["custom", "x"]] }],
    ["a list to grow", { "list.20000000": ["undefined"], "list.0": ["undefined"] }],
    ["what is not null", { id: ["undefined"] }],
    ["what is not there", { "a.b.c": ["undefined"], "..": ["undefined"], "": ["undefined"] }],
    ["no marks", { id: "undefined", when: null, list: 5 }],
  ])("is not changed by annotations of %s", (_what, values) => {
    const json = () => ({ id: "x", when: "2026", list: [null], re: "/a/", error: {}, made: {} });
    expect(readAnswer({ json: json(), meta: { values } })).toEqual(json());
    expect(readAnswer({ json: json(), meta: values })).toEqual(json());
    expect(readAnswer({ json: json(), meta: { referentialEqualities: values } })).toEqual(json());
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("is read in linear time, however many annotations it has", () => {
    const json = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, null]));
    const values = Object.fromEntries(Object.keys(json).map((key) => [key, ["undefined"]]));
    const deep = {
      json: null as unknown,
      meta: { values: { [".".repeat(1_000_000)]: ["undefined"] } },
    };
    // The processor's time: how busy the machine is otherwise says nothing.
    const started = process.cpuUsage().user;
    expect(Object.keys(readAnswer({ json, meta: { values } }) as object)).toEqual([]);
    expect(readAnswer(deep)).toBeNull();
    expect((process.cpuUsage().user - started) / 1_000).toBeLessThan(5_000);
  });

  it.each([undefined, null, 5, "x", [], {}, { meta: {} }])(
    "is refused where it is no envelope: %j",
    (envelope) => {
      expect(() => readAnswer(envelope)).toThrow(TypeError);
    },
  );
});
