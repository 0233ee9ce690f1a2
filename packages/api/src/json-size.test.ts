import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonLimits, measureJson } from "./json-size.ts";

class TooMuch extends Error {}
const bytes = (text: string) => new TextEncoder().encode(text);
const measure = (text: string, limits: JsonLimits) =>
  measureJson(bytes(text), limits, (words) => new TooMuch(words));
const ANY: JsonLimits = { values: Infinity, fields: Infinity, entries: Infinity, names: Infinity };

/** Different names of members, anywhere in it. */
function namesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  if (!Array.isArray(value)) for (const name of Object.keys(value)) found.add(name);
  for (const part of Object.values(value)) namesIn(part, found);
  return found;
}

/** The same, by looking at what was parsed. */
function model(value: unknown): {
  values: number;
  fields: number;
  entries: number;
  members: number;
} {
  const size = { values: 1, fields: 0, entries: 0, members: 0 };
  if (typeof value !== "object" || value === null) return size;
  const parts = Object.values(value);
  size[Array.isArray(value) ? "entries" : "fields"] = parts.length;
  if (!Array.isArray(value)) size.members = parts.length;
  for (const part of parts.map(model)) {
    size.values += part.values;
    size.members += part.members;
    size.fields = Math.max(size.fields, part.fields);
    size.entries = Math.max(size.entries, part.entries);
  }
  return size;
}

test("counts what the parser will make, whatever the text and its spaces", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      // Assigned by the parser, not kept as a member.
      fc.pre(!JSON.stringify(value).includes('"__proto__"'));
      const text = JSON.stringify(value, null, indent);
      const parsed: unknown = JSON.parse(text);
      const { members, ...parts } = model(parsed);
      const size = { ...parts, names: namesIn(parsed).size };
      expect(measure(text, size)).toEqual({ members });
      for (const name of ["values", "fields", "entries", "names"] as const)
        // The root itself is always there.
        if (size[name] > (name === "values" ? 1 : 0))
          expect(() => measure(text, { ...ANY, [name]: size[name] - 1 })).toThrow(TooMuch);
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes are read to their end or refused for their size, and nothing else", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("[", "]", "{", "}", ",", ":", '"', "\\", " ", "1", "a") }),
      (text) => {
        expect(measure(text, ANY).members).toBeLessThanOrEqual(text.length);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("says what there is too much of", () => {
  expect(() => measure('{"a":1,"b":2}', { ...ANY, fields: 1 })).toThrow("more than 1 fields");
  expect(() => measure("[1,2,3]", { ...ANY, entries: 2 })).toThrow("more than 2 entries");
  expect(() => measure('[{"a":1},{"b":1},{"a":1}]', { ...ANY, names: 1 })).toThrow(
    "more than 1 different names",
  );
  expect(() => measure("[[],[]]", { ...ANY, values: 2 })).toThrow("more than 2 values");
});
