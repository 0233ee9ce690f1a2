import { expect, test } from "vitest";
import { missesMust, quantile, summarize } from "./figure.ts";
import type { Figure } from "./figure.ts";

const figure = (value: number, more: Partial<Figure> = {}): Figure => ({
  id: "a",
  value,
  unit: "ms",
  direction: "lower",
  ...more,
});

test("several runs become their median with the spread", () => {
  const runs = [[figure(3)], [figure(1), figure(9, { id: "b" })], [figure(2)]];
  expect(summarize(runs)).toEqual([
    { ...figure(2), spread: [1, 3] },
    { ...figure(9, { id: "b" }), spread: [9, 9] },
  ]);
});

test("a must is missed on the worse side only, and met exactly", () => {
  expect(missesMust(figure(2, { must: 2 }))).toBe(false);
  expect(missesMust(figure(2.1, { must: 2 }))).toBe(true);
  expect(missesMust(figure(2.1, { must: 2, direction: "higher" }))).toBe(false);
  expect(missesMust(figure(1.9, { must: 2, direction: "higher" }))).toBe(true);
  expect(missesMust(figure(1_000))).toBe(false);
  expect(missesMust(figure(Number.NaN, { must: 2 }))).toBe(true);
});

test("quantiles are values of the sample", () => {
  const samples = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(quantile(samples, 0.5)).toBe(50);
  expect(quantile(samples, 0.99)).toBe(99);
  expect(quantile([7], 0.99)).toBe(7);
});
