import { expect, it } from "vitest";
import { createFamiliar } from "./familiar.ts";

it("knows a token for an hour after it was last accepted, and no other", () => {
  let now = 0;
  const familiar = createFamiliar(() => now);
  familiar.met("a");
  now = 3_000_000;
  expect([familiar.knows("a"), familiar.knows("b")]).toEqual([true, false]);
  familiar.met("a");
  now = 6_599_999;
  expect(familiar.knows("a")).toBe(true);
  now = 6_600_000;
  expect(familiar.knows("a")).toBe(false);
});

it("forgets the one that was met longest ago when there are too many", () => {
  const familiar = createFamiliar(() => 0);
  for (let n = 0; n < 50_000; n += 1) familiar.met(`token ${n}`);
  familiar.met("token 0");
  familiar.met("one more");
  expect(familiar.knows("token 0")).toBe(true);
  expect(familiar.knows("token 1")).toBe(false);
  expect(familiar.knows("one more")).toBe(true);
});
