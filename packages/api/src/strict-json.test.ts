import fc from "fast-check";
import { expect, test } from "vitest";
import { NotJson, strictJson } from "./strict-json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("whatever JSON.stringify writes is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ noUnicodeString: false }),
      fc.constantFrom(0, 1, "\t"),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        // These names have a test of their own: they are not taken.
        fc.pre(!/"(?:__proto__|constructor)"/.test(text));
        expect(strictJson(bytes(text))).toEqual({ text, value: JSON.parse(text) });
      },
    ),
  );
});

test("any name given twice, anywhere, is refused", () => {
  const name = fc.string({ maxLength: 8 }).filter((text) => text !== "__proto__");
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), fc.nat(), fc.jsonValue(), (path, at, value) => {
      const twice = path[at % path.length] ?? "";
      let text = `{${JSON.stringify(twice)}:1,${JSON.stringify(twice)} : ${JSON.stringify(value)}}`;
      for (const step of path) text = `[{${JSON.stringify(step)}:${text}}]`;
      expect(() => strictJson(bytes(text))).toThrow(NotJson);
    }),
  );
});

test("8 MiB of escapes take no longer than 8 MiB of anything", () => {
  const text = JSON.stringify({ a: "\\".repeat(2_000_000), b: '"'.repeat(2_000_000) });
  expect(strictJson(bytes(text)).text).toHaveLength(text.length);
});
