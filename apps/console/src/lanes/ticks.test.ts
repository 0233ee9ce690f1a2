import { describe, expect, it } from "vitest";
import { ticksOf } from "./ticks.ts";

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);

function hoursIn(zone: string, from: string, hours: number, most = 40): string[] {
  const start = at(from);
  const show = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return ticksOf({ from: start, to: start + hours * HOUR }, zone, most).map((tick) =>
    show.format(tick.at),
  );
}

describe("ticks", () => {
  it("fall on round times of the zone, also where it is half an hour off", () => {
    expect(hoursIn("Asia/Kolkata", "2026-11-30T10:00:00Z", 4, 4)).toEqual([
      "16:00",
      "17:00",
      "18:00",
      "19:00",
    ]);
  });

  it("skip the hour that does not exist when the clock goes forward", () => {
    // Berlin, 29 March 2026: 02:00 to 03:00 is no time.
    expect(hoursIn("Europe/Berlin", "2026-03-28T23:00:00Z", 5)).toContain("03:00");
    const hours = hoursIn("Europe/Berlin", "2026-03-28T23:00:00Z", 5, 6);
    expect(hours).toEqual(["00:00", "01:00", "03:00", "04:00", "05:00"]);
  });

  it("mark the hour that comes twice once, and go on at round times after it", () => {
    // Berlin, 25 October 2026: 02:00 comes twice.
    const hours = hoursIn("Europe/Berlin", "2026-10-24T22:00:00Z", 6, 6);
    expect(hours).toEqual(["00:00", "01:00", "02:00", "03:00", "04:00"]);
  });

  it("mark days at local midnight over a change of the clock", () => {
    const window = { from: at("2026-10-23T22:00:00Z"), to: at("2026-10-27T23:00:00Z") };
    const days = ticksOf(window, "Europe/Berlin", 5);
    expect(days.map(({ at: time }) => new Date(time).toISOString())).toEqual([
      "2026-10-23T22:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z",
      "2026-10-26T23:00:00.000Z",
    ]);
    expect(days.every(({ isDay }) => isDay)).toBe(true);
  });

  it("begin a day whose midnight does not exist with its first hour", () => {
    // Cairo, 24 April 2026: the day begins at 01:00.
    const window = { from: at("2026-04-23T20:00:00Z"), to: at("2026-04-24T02:00:00Z") };
    const [day] = ticksOf(window, "Africa/Cairo", 8).filter(({ isDay }) => isDay);
    expect(day?.at).toBe(at("2026-04-23T22:00:00Z"));
  });

  it("stay where they are while the window moves, and are never more than asked for", () => {
    for (let hours = 1; hours < 24 * 200; hours = Math.ceil(hours * 1.7)) {
      const from = at("2026-12-07T08:13:00Z");
      const ticks = ticksOf({ from, to: from + hours * HOUR }, "America/New_York", 12);
      const moved = ticksOf(
        { from: from + 60_000, to: from + hours * HOUR },
        "America/New_York",
        12,
      );
      expect(ticks.length).toBeLessThanOrEqual(13);
      expect(ticks.map((tick) => tick.at)).toEqual(expect.arrayContaining(moved.map((t) => t.at)));
      expect(ticks.every((tick, i) => i === 0 || tick.at > (ticks[i - 1]?.at ?? 0))).toBe(true);
    }
  });
});
