import { describe, expect, it } from "vitest";
import { parseInput } from "./index.ts";
import { parseTimeText, timeText } from "./time-text.ts";

const NOON = Date.UTC(2031, 4, 5, 12);

describe("a time as text", () => {
  const same: Record<string, number> = {
    "2031-05-05T12:00:00Z": NOON,
    "2031-05-05t12:00:00z": NOON,
    "2031-05-05T14:00:00+02:00": NOON,
    "2031-05-04T22:30:00-13:30": NOON,
    "2031-05-05T12:00:00-00:00": NOON,
    "2031-05-05T12:00:00.5Z": NOON + 500,
    "2031-05-05T12:00:00.123456789Z": NOON + 123,
    "2028-02-29T00:00:00Z": Date.UTC(2028, 1, 29),
  };
  for (const [text, time] of Object.entries(same))
    it(`is read with whatever offset it has: ${text}`, () => {
      expect(parseTimeText(text)).toBe(time);
      expect(parseTimeText(timeText(time))).toBe(time);
    });

  it.each([
    "2031-05-05T12:00:00",
    "2031-05-05 12:00:00Z",
    "2031-05-05",
    "2031-05-05T12:00Z",
    "2031-05-05T24:00:00Z",
    "2031-05-05T12:60:00Z",
    "2031-05-05T12:00:60Z",
    "2031-05-05T12:00:00.Z",
    "2031-05-05T12:00:00.1234567890Z",
    "2031-05-05T12:00:00+24:00",
    "2031-05-05T12:00:00+0200",
    "2031-02-29T12:00:00Z",
    "2031-04-31T12:00:00Z",
    "2031-13-01T12:00:00Z",
    "2031-00-01T12:00:00Z",
    "2031-05-00T12:00:00Z",
    "+002031-05-05T12:00:00Z",
    "2031-05-05T12:00:00Z\n",
    "",
    "now",
  ])("is none without its offset, or when no calendar has it: %j", (text) => {
    expect(parseTimeText(text)).toBeNull();
  });

  it("is told in UTC, to the millisecond", () => {
    expect(timeText(NOON + 7)).toBe("2031-05-05T12:00:00.007Z");
  });

  it.each(["1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "2031-02-29T12:00:00Z", "soon"])(
    "that is not one, or out of reach, is refused with its field: %s",
    (startsAt) => {
      const parsed = parseInput("unitReservations.create", {
        nodeId: `node_${"0".repeat(26)}`,
        unitIds: [`unit_${"0".repeat(26)}`],
        allowedOrgIds: ["acme"],
        startsAt,
      });
      expect(parsed).toMatchObject({ ok: false, issues: [{ path: ["startsAt"] }] });
    },
  );
});
