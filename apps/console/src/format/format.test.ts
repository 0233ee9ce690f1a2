import { describe, expect, it } from "vitest";
import { agoText, durationInput, durationText, lengthFault, parseDuration } from "./duration.ts";
import { gpusText, modelText, number } from "./gpus.ts";
import { crossesClockChange, rangeText, timeText, utcText, zoneName } from "./time.ts";

const MONDAY = Date.parse("2026-12-07T08:00:00Z");
const BERLIN = "Europe/Berlin";

describe("a time", () => {
  it("names its zone beside it", () => {
    expect(timeText(MONDAY, BERLIN, { now: MONDAY })).toBe("Mon 7 Dec 09:00 CET");
    expect(timeText(MONDAY, "America/New_York", { now: MONDAY })).toBe("Mon 7 Dec 03:00 EST");
    expect(timeText(MONDAY, "Asia/Tokyo", { now: MONDAY })).toBe("Mon 7 Dec 17:00 GMT+9");
    expect(timeText(MONDAY, "UTC", { now: MONDAY })).toBe("Mon 7 Dec 08:00 UTC");
    expect(zoneName(Date.parse("2026-07-01T00:00:00Z"), BERLIN)).toBe("CEST");
  });

  it("names the year where it is another one", () => {
    const now = Date.parse("2026-12-30T00:00:00Z");
    expect(timeText(Date.parse("2027-01-04T08:00:00Z"), BERLIN, { now })).toBe(
      "Mon 4 Jan 2027 09:00 CET",
    );
    const span = { start: now, end: Date.parse("2027-01-04T08:00:00Z") };
    expect(rangeText(span, BERLIN, now)).toBe("Wed 30 Dec 01:00 – Mon 4 Jan 2027 09:00 CET");
    expect(rangeText({ ...span, start: span.end }, BERLIN, now)).toBe(
      "Mon 4 Jan 2027 09:00:00 – 09:00:00 CET",
    );
  });

  it("names the year where nobody says which one it is", () => {
    const longAgo = Date.parse("2001-01-01T08:00:00Z");
    expect(timeText(longAgo, BERLIN)).toBe("Mon 1 Jan 2001 09:00 CET");
    expect(rangeText({ start: longAgo, end: longAgo + 3_600_000 }, BERLIN)).toBe(
      "Mon 1 Jan 2001 09:00 – 10:00 CET",
    );
  });

  it("has UTC in its title, to the second", () => {
    expect(utcText(MONDAY)).toBe("Mon 7 Dec 2026 08:00:00 UTC");
  });

  it("in a range says the day once, and both zones over a change of the clocks", () => {
    const day = { start: MONDAY, end: MONDAY + 28_800_000 };
    expect(rangeText(day, BERLIN, MONDAY)).toBe("Mon 7 Dec 09:00 – 17:00 CET");
    const [from, to] = ["2026-10-24T08:00:00Z", "2026-10-26T08:00:00Z"].map(Date.parse);
    expect(rangeText({ start: from ?? 0, end: to ?? 0 }, BERLIN, MONDAY)).toBe(
      "Sat 24 Oct 10:00 CEST – Mon 26 Oct 09:00 CET",
    );
    expect(crossesClockChange(from ?? 0, to ?? 0, BERLIN)).toBe(true);
    expect(crossesClockChange(from ?? 0, to ?? 0, "UTC")).toBe(false);
  });
});

it("a range of seconds is told to the second", () => {
  expect(rangeText({ start: MONDAY + 5_000, end: MONDAY + 15_000 }, BERLIN, MONDAY)).toBe(
    "Mon 7 Dec 09:00:05 – 09:00:15 CET",
  );
});

it("what is no length says what is wrong with it", () => {
  expect(lengthFault("")).toMatch(/^Say how long/);
  for (const none of ["0", "0h", "0d", "0.0"])
    expect(lengthFault(none)).toMatch(/more than nothing/);
  expect(lengthFault("-1h")).toMatch(/below zero/);
  expect(lengthFault("soon")).toBe("Such as 4h, 7d or 1d12h");
  for (const one of ["1", "4h", "1d12h", "10s"]) expect(lengthFault(one)).toBeNull();
});

describe("a length", () => {
  it.each([
    ["7d", 604_800_000],
    ["2h 30m", 9_000_000],
    ["4", 14_400_000],
    ["1w", 604_800_000],
    ["1.5", 5_400_000],
  ])("%s is read", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(["", "0", "soon", "-1h", "1y", "<img>"])("%s is none", (text) =>
    expect(parseDuration(text)).toBeNull(),
  );

  it("is said by its two greatest parts, and written so that it is read again", () => {
    expect(durationText(604_800_000)).toBe("7 d");
    expect(durationText(9_000_000)).toBe("2 h 30 min");
    expect(durationText(90_061_000)).toBe("1 d 1 h");
    expect(durationText(-5)).toBe("0 s");
    for (const ms of [604_800_000, 9_000_000, 90_061_000])
      expect(parseDuration(durationInput(ms))).toBe(ms);
  });

  it("from now is coarse", () => {
    expect(agoText(10_800_000, 0)).toBe("in 3 h");
    expect(agoText(0, 300_000)).toBe("5 min ago");
    expect(agoText(500, 0)).toBe("now");
  });

  it("from now is rounded and not cut", () => {
    const [minute, hour] = [60_000, 3_600_000];
    expect(agoText(3 * hour + 59 * minute, 0)).toBe("in 3 h 59 min");
    expect(agoText(4 * hour - 1, 0)).toBe("in 4 h");
    expect(agoText(0, 119_000)).toBe("2 min ago");
    expect(agoText(59_600, 0)).toBe("in 1 min");
    expect(agoText(hour - 1, 0)).toBe("in 1 h");
    expect(agoText(24 * hour - 1, 0)).toBe("in 1 d");
    expect(agoText(29 * hour + 40 * minute, 0)).toBe("in 1 d 6 h");
  });
});

it("counts and models are short", () => {
  expect([gpusText(1), gpusText(16), number(8_000)]).toEqual(["1 GPU", "16 GPUs", "8,000"]);
  expect(modelText("NVIDIA-H100-80GB-HBM3")).toBe("H100 80GB HBM3");
  expect(modelText(null)).toBe("no model");
});
