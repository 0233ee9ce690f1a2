import { expect, it } from "vitest";
import { instantOf, only, textOf, wordOf } from "./search.ts";

it("an instant is one that a calendar can show", () => {
  const at = (start: unknown) => instantOf({ start }, "start");
  expect(at(1_800_000_000_000)).toBe(1_800_000_000_000);
  expect(at("1800000000000")).toBe(1_800_000_000_000);
  for (const wrong of ["nextweek", -1, 1.5, 8.64e15, 1e300, Number.NaN, null, {}, true])
    expect([wrong, at(wrong)]).toEqual([wrong, undefined]);
});

it("what was refused is named as absent, so that nothing of it is left under what was checked", () => {
  const check = only(
    (raw) => ({ view: wordOf(raw, "view", ["table"]), pool: textOf(raw, "pool") }),
    ["tenant"],
  );
  const raw = { view: "pie", pool: "p", tenant: "lab", extra: 1 };
  expect({ ...raw, ...check(raw) }).toEqual({
    view: undefined,
    pool: "p",
    tenant: "lab",
    extra: undefined,
  });
});
