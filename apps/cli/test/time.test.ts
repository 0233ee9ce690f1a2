/** Times as people type them, in a zone whose clocks change. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { both, clocksChange, length, local, parseTime, utc } from "../src/time.ts";

const before = process.env["TZ"];
beforeAll(() => {
  process.env["TZ"] = "Europe/Paris";
});
afterAll(() => {
  if (before === undefined) delete process.env["TZ"];
  else process.env["TZ"] = before;
});

/** Monday, 30 November 2026, 11:00 in Paris. */
const NOW = Date.parse("2026-11-30T10:00:00Z");
const at = async (text: string, now = NOW) =>
  new Date(await parseTime(text, "--start", now)).toISOString();

describe("a time that is typed", () => {
  it.each([
    ["2026-12-07T09:00:00Z", "2026-12-07T09:00:00.000Z"],
    ["2026-12-07T09:00:00.123+02:00", "2026-12-07T07:00:00.123Z"],
    ["2026-12-07 09:00", "2026-12-07T08:00:00.000Z"],
    ["mon 09:00", "2026-12-07T08:00:00.000Z"],
    ["fri 18:00", "2026-12-04T17:00:00.000Z"],
    ["tomorrow 9am", "2026-12-01T08:00:00.000Z"],
    ["mon 09:00 UTC", "2026-12-07T09:00:00.000Z"],
    ["09:00", "2026-12-01T08:00:00.000Z"],
    ["2027-10-31 01:30", "2027-10-30T23:30:00.000Z"],
    ["2027-10-31 03:30", "2027-10-31T02:30:00.000Z"],
    ["tonight 21:00", "2026-11-30T20:00:00.000Z"],
    ["tomorrow 9:30 pm", "2026-12-01T20:30:00.000Z"],
    ["+2h", "2026-11-30T12:00:00.000Z"],
    ["+2h30m", "2026-11-30T12:30:00.000Z"],
    ["now", "2026-11-30T10:00:00.000Z"],
  ])("%s is read, and nothing of it is rounded", async (text, expected) => {
    expect(await at(text)).toBe(expected);
  });

  it("that counts from now keeps the milliseconds", async () => {
    expect(await at("+2h", NOW + 1_234)).toBe("2026-11-30T12:00:01.234Z");
  });

  it.each([
    ["+1d", "2027-03-28T08:00:00.000Z"],
    ["+1w", "2027-04-03T08:00:00.000Z"],
  ])(
    "as %s has days of 24 hours, as durations do, also where the clocks change",
    async (text, expected) => {
      expect(await at(text, Date.parse("2027-03-27T08:00:00Z"))).toBe(expected);
    },
  );

  it.each([
    ["tomorrow", /names no hour: write it as in "tomorrow 09:00"/],
    ["2026-12-07", /names no hour/],
    ["mon 09:00 - 10:00", /no time that can be read/],
    ["about mon 09:00", /no time that can be read/],
    ["soon", /no time that can be read/],
    ["last monday 9:00", /a time that is over/],
    ["yesterday 09:00", /a time that is over/],
    ["4.3.2027 09:00", /more than one way/],
    ["03/04/2027 09:00", /more than one way/],
    ["", /no time that can be read/],
    ["sun 29 mar 2027 09:00", /that day is a Monday/],
    ["2027-03-28 02:30", /clocks in Europe\/Paris pass over that hour/],
    ["2027-10-31 02:30", /twice .* 2027-10-31T00:30:00.000Z or 2027-10-31T01:30:00.000Z/],
    ["01-02-2027 09:00", /more than one way/],
    ["24-12-2026 09:00", /more than one way: write "2026-12-07T09:00:00Z"/],
    ["tonight 09:00", /more than one way/],
    ["mon 09:00 IST", /IST is the name of several zones: write the offset/],
    ["half past nine", /no time that can be read|names no hour/],
    ["2026-13-01T00:00:00Z", /is no time/],
  ])("%j is refused, and the flag is named", async (text, says) => {
    await expect(parseTime(text, "--start", NOW)).rejects.toThrow(says);
    await expect(parseTime(text, "--start", NOW)).rejects.toThrow(/--start/);
  });
});

it("that a change of half an hour passes over is refused", async () => {
  const zone = process.env["TZ"];
  process.env["TZ"] = "Australia/Lord_Howe";
  const read = parseTime("2027-10-03 02:15", "--start", NOW);
  const twice = parseTime("2027-04-04 01:45", "--start", NOW);
  await expect(read).rejects.toThrow(/pass over that hour/);
  await expect(twice).rejects.toThrow(/twice/);
  process.env["TZ"] = zone;
});

describe("a time that is shown", () => {
  it("has its zone beside it, and UTC after it", () => {
    expect(local(NOW)).toBe("Mon 30 Nov 2026 11:00 CET");
    expect(utc(NOW)).toBe("Mon 30 Nov 2026 10:00 UTC");
    expect(both(NOW)).toBe("Mon 30 Nov 2026 11:00 CET (10:00 UTC)");
  });

  it("names the day of UTC where that is another one, and the seconds where there are some", () => {
    const late = Date.parse("2026-11-30T23:30:05Z");
    expect(both(late)).toBe("Tue 1 Dec 2026 00:30:05 CET (Mon 30 Nov 2026 23:30:05 UTC)");
  });

  it("tells of a change of the clocks", () => {
    expect(clocksChange(NOW, NOW + 86_400_000)).toBe(false);
    expect(clocksChange(NOW, Date.parse("2027-07-01T00:00:00Z"))).toBe(true);
  });

  it.each([
    [0, "0 s"],
    [1_500, "2 s"],
    [7 * 86_400_000, "7 d"],
    [5_400_000, "1 h 30 min"],
    [86_400_000 + 60_000, "1 d 1 min"],
  ])("%d ms is as long as %s", (ms, expected) => {
    expect(length(ms)).toBe(expected);
  });
});
