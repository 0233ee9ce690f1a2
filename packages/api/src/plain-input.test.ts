import superjson from "superjson";
import { describe, expect, test } from "vitest";
import { readInput } from "./plain-input.ts";

/** What a client of superjson puts on the wire. */
function sent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(superjson.serialize(value)));
}

describe("what clients send arrives", () => {
  test("fields that are undefined are absent, at any depth and under any name", () => {
    const value = {
      a: undefined,
      b: [{ c: undefined, d: 1 }],
      "e.f": undefined,
      "g\\h": { i: undefined },
    };
    expect(readInput(sent(value))).toEqual({ b: [{ d: 1 }], "g\\h": {} });
  });

  test("no input at all is undefined", () => {
    expect(readInput(undefined)).toBeUndefined();
    expect(readInput(sent(undefined))).toBeUndefined();
  });

  test("a value that is used twice arrives twice, and apart", () => {
    const twice = { x: 1 };
    const got = readInput(sent({ a: twice, b: twice })) as { a: object; b: object };
    expect(got).toEqual({ a: { x: 1 }, b: { x: 1 } });
    expect(got.a).not.toBe(got.b);
  });
});

describe("what superjson would build is refused or left alone, in no time", () => {
  // Bodies of some 100 kB: what takes superjson seconds.
  const n = 6_000;
  const hostile: Record<string, () => unknown> = {
    "a sparse index": () => ({
      json: { a: [] },
      meta: { values: { "a.4294967294": ["undefined"] } },
    }),
    "a set over which references run": () => ({
      json: { a: Array.from({ length: n }, (_, i) => i), b: {} },
      meta: {
        values: { a: ["set"] },
        referentialEqualities: { b: Array.from({ length: n }, (_, i) => `a.${n - 1 - i}`) },
      },
    }),
    "a bigint of many digits": () => ({
      json: { a: "9".repeat(n) },
      meta: { values: { a: ["bigint"] } },
    }),
    "a regular expression": () => ({
      json: { a: "/(a+)+$/" },
      meta: { values: { a: ["regexp"] } },
    }),
    "an error with a stack": () => ({
      json: { a: { message: "x", stack: "evil" } },
      meta: { values: { a: ["Error"] } },
    }),
    "a typed array": () => ({
      json: { a: [1] },
      meta: { values: { a: [["typed-array", "Float64Array"]] } },
    }),
    "a date": () => sent({ a: new Date() }),
    "undefined over a value": () => ({ json: { a: 5 }, meta: { values: { a: ["undefined"] } } }),
    "undefined in a list": () => sent({ a: [undefined] }),
    "a path of many steps": () => ({
      json: {},
      meta: { values: { [Array(n).fill("a").join(".")]: ["undefined"] } },
    }),
    "a path into a prototype": () => ({
      json: {},
      meta: { values: { "__proto__.polluted": ["undefined"], constructor: ["undefined"] } },
    }),
    "many paths": () => ({
      json: { a: null },
      meta: {
        values: Object.fromEntries(Array.from({ length: n }, (_, i) => [`a${i}`, ["undefined"]])),
      },
    }),
    "no envelope": () => ({ a: 1 }),
    "a list": () => [1],
    "a string": () => "x",
    null: () => null,
  };
  for (const [name, build] of Object.entries(hostile))
    test(name, () => {
      // The best of a few: what other work on the machine adds is not the point.
      const took = Array.from({ length: 5 }, () => {
        const envelope = JSON.parse(JSON.stringify(build())) as unknown;
        const began = performance.now();
        expect(() => readInput(envelope)).toThrow(/meta\.values|undefined|envelope/);
        return performance.now() - began;
      });
      expect(Math.min(...took)).toBeLessThan(20);
    });

  test("cycles and copies that meta asks for are not made", () => {
    const envelope = {
      json: { a: {} },
      meta: { referentialEqualities: [["a.b"], { a: ["b", "c"] }] },
    };
    expect(readInput(envelope)).toEqual({ a: {} });
  });

  test("no prototype is changed by a key of that name", () => {
    const envelope: unknown = JSON.parse('{"json":{"__proto__":{"polluted":true}}}');
    const input = readInput(envelope) as object;
    expect(Object.keys(input)).toEqual(["__proto__"]);
    expect("polluted" in {}).toBe(false);
  });
});
