/** Statuses: the people's commands and the operators', which share no code, end alike for the same reason. */
import { BerthError, type BerthErrorCode } from "@berth/client";
import { operatorEnding } from "@berth/server/commands";
import { expect, it } from "vitest";
import { failureOf } from "../src/failure.ts";

/** Every code; one that is missing here does not compile. */
const STATUSES: Readonly<Record<BerthErrorCode, number>> = {
  INVALID_INPUT: 2,
  CONFLICT: 2,
  INVALID_STATE: 2,
  TOO_LARGE: 2,
  CURSOR_EXPIRED: 2,
  BAD_ANSWER: 2,
  NO_CAPACITY: 3,
  QUOTA_EXCEEDED: 3,
  UNAUTHENTICATED: 4,
  FORBIDDEN: 4,
  NOT_FOUND: 4,
  RATE_LIMITED: 5,
  UNAVAILABLE: 5,
  NETWORK: 5,
  TIMEOUT: 5,
  INTERNAL: 1,
  ABORTED: 1,
  HOLD_LOST: 1,
};

it.each(Object.entries(STATUSES))(
  "%s ends with %i, whichever command it met",
  async (code, status) => {
    const error = new BerthError({
      code: code as BerthErrorCode,
      message: "as it is",
      retryable: false,
      requestId: null,
      issues: null,
      details: null,
    });
    expect(failureOf(error, null).status).toBe(status);
    expect((await operatorEnding(error)).status).toBe(status);
  },
);

it("what nobody foresaw is a bug for both", async () => {
  const error = new RangeError("as it is");
  expect(failureOf(error, null).status).toBe(1);
  expect((await operatorEnding(error)).status).toBe(1);
});
