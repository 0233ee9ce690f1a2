import { describe, expect, it } from "vitest";
import { missingOf } from "./maintenance-dialog.tsx";
import { endRefusal, startRefusal } from "./set-aside-dialog.tsx";

const NOW = 1_000_000_000;
const HOUR = 3_600_000;

describe("a window of maintenance", () => {
  const of = (from: number | null, to: number | null) => missingOf({ from, to, now: NOW });

  it("may have begun, and may not be over", () => {
    expect(of(NOW + HOUR, NOW + 2 * HOUR)).toBeNull();
    expect(of(NOW - HOUR, NOW + HOUR)).toBeNull();
    expect(of(NOW - 2 * HOUR, NOW - HOUR)).toMatch(/over already/);
    expect(of(NOW - HOUR, NOW)).toMatch(/over already/);
  });

  it("has two ends in order", () => {
    expect(of(NOW + HOUR, NOW + HOUR)).toMatch(/ends after/);
    expect(of(null, NOW + HOUR)).toMatch(/Say from when/);
  });
});

describe("a term of what is set aside", () => {
  it("does not begin in the past, but for the minute that the server allows", () => {
    expect(startRefusal(null, NOW)).toBeNull();
    expect(startRefusal(NOW - 60_000, NOW)).toBeNull();
    expect(startRefusal(NOW - 60_001, NOW)).toMatch(/past/);
  });

  it("ends after it begins, and in time to come", () => {
    expect(endRefusal({ startsAt: null, endsAt: null }, NOW)).toBeNull();
    expect(endRefusal({ startsAt: null, endsAt: NOW + 1 }, NOW)).toBeNull();
    expect(endRefusal({ startsAt: NOW + HOUR, endsAt: NOW + HOUR }, NOW)).toMatch(/ends after/);
    expect(endRefusal({ startsAt: null, endsAt: NOW }, NOW)).toMatch(/past/);
  });
});

it("a date that does not exist is neither an empty field nor a time", () => {
  expect(startRefusal(Number.NaN, NOW)).toBe("There is no such date.");
  expect(endRefusal({ startsAt: null, endsAt: Number.NaN }, NOW)).toBe("There is no such date.");
  expect(missingOf({ from: Number.NaN, to: NOW + 1, now: NOW })).toBe("Say from when to when.");
});
