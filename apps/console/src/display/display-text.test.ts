import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { displayText } from "./display-text.ts";
import { jsx, jsxs } from "./jsx-runtime.ts";

it.each([
  ["h100-01", "h100-01"],
  ["שלום 東京 é", "שלום 東京 é"],
  ["rack\u202Ekcar", "rack[U+202E]kcar"],
  ["a\u2066b\u2069", "a[U+2066]b[U+2069]"],
  ["\u200Fx\u200E", "[U+200F]x[U+200E]"],
  ["zero\u200Bwidth\u00ADsoft\uFEFF", "zero[U+200B]width[U+00AD]soft[U+FEFF]"],
  ["bell\u0007 next\u0085", "bell[U+0007] next[U+0085]"],
  ["tag\u{E0041}", "tag[U+E0041]"],
  ["two\u2028lines", "two[U+2028]lines"],
  ["tabs\tand\nlines", "tabs\tand\nlines"],
  ["می\u200Cخواهم 👩\u200D🔧", "می\u200Cخواهم 👩\u200D🔧"],
])("%j is shown as %j", (text, shown) => {
  expect(displayText(text)).toBe(shown);
});

it("marks every character without a look of its own, and no other", () => {
  const kept = new Set("\t\n\r\u200C\u200D");
  for (let code = 0; code <= 0xff_ff; code += 1) {
    const character = String.fromCodePoint(code);
    const isUnseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) && !kept.has(character);
    if ((displayText(character) !== character) !== isUnseen) expect.fail(`U+${code.toString(16)}`);
  }
});

it("holds for all text, titles and names that a component makes, and for no value", () => {
  const evil = "live\u202Eevil";
  const inner = jsxs(
    "p",
    { title: evil, "aria-label": evil, children: [evil, " is ", 1, null, ["\u202E"]] },
    "p",
  );
  const field = jsx("input", { value: evil, readOnly: true }, "field");
  const page = jsxs("div", { children: [inner, field, jsx("b", { children: evil }, "b")] });
  expect(renderToStaticMarkup(page)).toBe(
    '<div><p title="live[U+202E]evil" aria-label="live[U+202E]evil">live[U+202E]evil is 1[U+202E]</p>' +
      `<input readOnly="" value="${evil}"/><b>live[U+202E]evil</b></div>`,
  );
});

it("an element that another library makes of it shows the mark as well", () => {
  const Other = ({ children }: { readonly children?: string }) => createElement("i", {}, children);
  expect(renderToStaticMarkup(jsx(Other, { children: "a\u202Eb" }))).toBe("<i>a[U+202E]b</i>");
});
