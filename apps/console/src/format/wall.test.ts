import { describe, expect, it } from "vitest";
import { parseWall, readingsOf, typedFault, wallNote, wallOf } from "./wall.ts";

const BERLIN = "Europe/Berlin";
const wall = (text: string) => parseWall(text) ?? expect.fail(`${text} is no wall time`);
const read = (text: string, zone = BERLIN) => {
  const { kind, usual, second } = readingsOf(wall(text), zone);
  return [kind, new Date(usual).toISOString(), new Date(second).toISOString()];
};

describe("a wall time", () => {
  it("usually comes once, in summer and in winter", () => {
    for (const text of ["2026-07-01T12:00:00Z", "2026-12-07T08:00:00Z"]) {
      const at = Date.parse(text);
      expect(readingsOf(wallOf(at, BERLIN), BERLIN)).toEqual({
        kind: "once",
        usual: at,
        second: at,
      });
      expect(wallNote(wallOf(at, BERLIN), BERLIN, at)).toBeNull();
    }
  });

  it("that the clocks skip is told, with what is taken", () => {
    const taken = "2026-03-29T01:30:00.000Z";
    expect(read("2026-03-29T02:30")).toEqual(["never", taken, taken]);
    expect(wallNote(wall("2026-03-29T02:30"), BERLIN, Date.parse(taken))).toMatch(
      /^02:30 does not exist on Sun 29 Mar( 2026)?: .* Taken is 03:30 CEST\.$/,
    );
    expect(read("2026-03-29T03:00")[0]).toBe("once");
  });

  it("that comes twice is told, with which one is taken", () => {
    const [kind, first = "", second = ""] = read("2026-10-25T02:30");
    expect([kind, first, second]).toEqual([
      "twice",
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:30:00.000Z",
    ]);
    const note = (at: string) => wallNote(wall("2026-10-25T02:30"), BERLIN, Date.parse(at));
    expect(note(first)).toMatch(/^02:30 comes twice on Sun 25 Oct.* the first, in CEST\.$/);
    expect(note(second)).toMatch(/ the second, in CET\.$/);
  });

  it("is skipped by half an hour where the clocks move by half an hour", () => {
    expect(read("2026-10-04T02:15", "Australia/Lord_Howe")[0]).toBe("never");
    expect(read("2026-04-05T01:45", "Australia/Lord_Howe")[0]).toBe("twice");
    expect(read("2026-03-29T02:30", "UTC")[0]).toBe("once");
  });

  it("is none for what is empty or no time", () => {
    expect([parseWall(""), parseWall("soon")]).toEqual([null, null]);
  });
});

describe("a date as it stands in its field", () => {
  const parts = (day: string, more: { readonly isPlaceholder?: boolean } = {}) =>
    Object.entries({ day, month: "02", year: "2027", hour: "10", minute: "00" }).map(
      ([type, text]) => ({
        type,
        text,
        isPlaceholder: type === "day" && more.isPlaceholder === true,
      }),
    );

  it("is its value, or it is said what is wrong: a day that does not exist, or a part that is missing", () => {
    expect(typedFault(parts("28"), wall("2027-02-28T10:00"))).toBeNull();
    expect(typedFault(parts("31"), wall("2027-11-03T01:30"))).toBe("31/02/2027 does not exist.");
    expect(typedFault(parts("dd", { isPlaceholder: true }), wall("2027-02-28T10:00"))).toMatch(
      /not complete/,
    );
  });
});
