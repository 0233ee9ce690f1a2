import { describe, expect, test } from "vitest";
import { z } from "zod";
import { logFields, toApiError } from "./errors.ts";

const stackOf = (thrown: unknown): string => String(logFields(toApiError(thrown))["stack"]);

describe("what the log holds of an unexpected error", () => {
  test("is short however long its message: the beginning, and where it was thrown", () => {
    const stack = stackOf(new Error("a line\n".repeat(5_000)));
    expect(stack.length).toBeLessThan(6_000);
    expect(stack).toMatch(/^Error: a line\na line/);
    expect(stack).toMatch(/\n {4}at .*errors\.test\.ts/);
  });

  test("is short for an answer that breaks its schema in thousands of places", () => {
    const { error } = z.array(z.number()).safeParse(Array<string>(5_000).fill("no number"));
    expect(error?.stack?.length).toBeGreaterThan(100_000);
    expect(stackOf(error).length).toBeLessThan(6_000);
    expect(stackOf(error)).toContain("ZodError");
  });

  test("is the whole of a short one", () => {
    const error = new Error("two lines\nof text");
    expect(stackOf(error)).toBe(error.stack);
  });

  test("is no word of an error that quotes a statement", () => {
    const error = Object.assign(new Error("insert into t values ('secret')"), { query: "…" });
    expect(stackOf(error)).not.toContain("secret");
    expect(stackOf(error)).toContain("    at ");
  });
});
