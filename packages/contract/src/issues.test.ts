import { expect, it } from "vitest";
import { parseInput } from "./issues.ts";

const BOOKING = {
  tenantId: "a",
  poolId: `pool_${"0".repeat(26)}`,
  devices: [{ class: "gpu", count: 1 }],
  duration: 60_000,
  binding: "hold",
  idempotencyKey: "k",
};

/** What is wrong with a booking that begins then; undefined when nothing is. */
const said = (start: unknown): string | undefined => {
  const parsed = parseInput("reservations.create", { ...BOOKING, start });
  return parsed.ok
    ? undefined
    : parsed.issues.map(({ path, message }) => `${path.join()}: ${message}`).join();
};

it.each([
  ["a time as text", "2027-01-01T00:00:00Z"],
  ["a word", "tomorrow"],
  ["a fraction", 1.5],
  ["null", null],
])("%s is no time, and what one is is said", (_, value) => {
  expect(said(value)).toBe(
    "start: must be an integer: whole milliseconds since 1970, as Date.now() gives them",
  );
});

it("microseconds are past the last time, and what one is is said", () => {
  expect(said(Date.UTC(2027, 0) * 1_000)).toBe(
    "start: must be at most 140737488355328: whole milliseconds since 1970, as Date.now() gives them",
  );
});

it("a time is taken, and none is now", () => {
  expect(said(Date.UTC(2027, 0))).toBeUndefined();
  expect(said(undefined)).toBeUndefined();
});

it("a time that has to be there is missing", () => {
  const parsed = parseInput("reservations.extend", {
    tenantId: "a",
    reservationId: `rsv_${"0".repeat(26)}`,
  });
  expect(parsed).toMatchObject({ ok: false, issues: [{ path: ["end"], message: "is missing" }] });
});
