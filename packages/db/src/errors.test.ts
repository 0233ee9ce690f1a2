/** What may be tried again and what is a bug, by the code that the database or the system gives. */
import { describe, expect, it } from "vitest";
import { ConnectionLost, UnknownOutcome, isConnectionLoss, isTransient } from "./errors.ts";

const withCode = (code: string) => Object.assign(new Error("refused"), { code });

describe("isTransient", () => {
  it.each(
    "08000 08001 08003 08004 08006 57P01 57P02 57P03 57P04 57P05 53100 53300 55P03 25P03 40001 40P01".split(
      " ",
    ),
  )("%s may be tried again", (code) => {
    expect(isTransient(withCode(code))).toBe(true);
    expect(isTransient(new Error("wrapped", { cause: withCode(code) }))).toBe(true);
  });

  it.each("23P01 23505 22003 22P02 42601 42P01 XX000".split(" "))("%s is a bug", (code) => {
    expect(isTransient(withCode(code))).toBe(false);
  });

  it.each(
    (
      "ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE CONNECTION_CLOSED CONNECT_TIMEOUT CERT_HAS_EXPIRED " +
      "DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE " +
      "ERR_TLS_CERT_ALTNAME_INVALID 25006 28000 28P01 3D000"
    ).split(" "),
  )("%s is a lost connection", (code) => {
    expect(isConnectionLoss(withCode(code))).toBe(true);
    expect(isTransient(withCode(code))).toBe(true);
  });

  it("is never true of an outcome that nobody knows", () => {
    expect(isTransient(new UnknownOutcome(withCode("57P01")))).toBe(false);
    expect(isTransient(new ConnectionLost(withCode("57P01")))).toBe(true);
  });
});
