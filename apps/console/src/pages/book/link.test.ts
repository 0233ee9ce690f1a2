import { describe, expect, it } from "vitest";
import { askOf, searchOf } from "./form.ts";
import { fromLink, startFault } from "./link.ts";
import { bookSearch } from "./search.ts";

const NOW = Date.parse("2026-11-30T10:00:00Z");
const POOL = { id: "pool_x", perNode: 8 };
const link = (raw: Readonly<Record<string, unknown>>) => fromLink(bookSearch(raw), "gpu", NOW);
const errorsOf = (raw: Readonly<Record<string, unknown>>) => {
  const ask = askOf(link(raw).form, "vision", POOL);
  return ask.ok ? {} : ask.errors;
};

describe("the start of a link", () => {
  it("is an instant, in milliseconds or with its zone", () => {
    const at = Date.parse("2027-03-28T02:30:00Z");
    for (const start of [
      at,
      String(at),
      "2027-03-28T02:30Z",
      "2027-03-28T02:30:00Z",
      "2027-03-28T04:30:00+02:00",
      "2027-03-28T04:30:00 02:00",
    ])
      expect(link({ start })).toMatchObject({ form: { start: at, startFault: null }, notes: [] });
  });

  it.each([
    ["2027-03-28T02:30", /could not be read: 2027-03-28T02:30\. The start is now unless/],
    ["2027-02-31T10:00:00Z", /could not be read/],
    ["banana", /could not be read: banana/],
    ["2020-01-01T00:00:00Z", /is in the past: 2020-01-01T00:00:00Z/],
    [NOW - 61_000, /is in the past/],
    ["9999-01-01T00:00:00Z", /is too far ahead/],
  ])(
    "%s is not taken: it is said, nothing is asked, and it stays in the address",
    (start, words) => {
      const { form, notes } = link({ start });
      expect(notes).toEqual([{ field: "start", words: expect.stringMatching(words) }]);
      expect(errorsOf({ start })).toEqual({ start: "Choose a start, or press Now." });
      expect(searchOf(form, "pool_x").start).toBe(String(start));
    },
  );
});

it("what else of a link cannot be taken is said at its field, or above the form", () => {
  expect(errorsOf({ gpus: -3 })).toEqual({ count: "A whole number from 1 on" });
  expect(errorsOf({ for: "xyz" })).toMatchObject({ duration: expect.any(String) });
  expect(errorsOf({ for: 4 })).toEqual({});
  expect(link({ together: "moon", spot: "perhaps" }).notes).toMatchObject([
    { field: "together", words: expect.stringContaining("moon") },
    { field: "spot", words: expect.stringContaining("perhaps") },
  ]);
  expect(link({ together: "rack", spot: true, gpus: 16 }).notes).toEqual([]);
  expect(searchOf(link({ gpus: -3 }).form, "pool_x").gpus).toBe("-3");
});

it("a start that nothing can begin at is said by its year, not by a number of the API", () => {
  expect(startFault(Date.UTC(9999, 0), NOW)).toBe("The year is at most 2199.");
  expect(startFault(NOW - 61_000, NOW)).toBe("The start is in the past.");
  expect(startFault(NOW, NOW)).toBeNull();
});
