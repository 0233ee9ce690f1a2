import { describe, expect, it } from "vitest";
import { parseInput } from "./issues.ts";
import {
  ABSENT,
  BOUNDARIES,
  boundaryName,
  boundaryRequest,
  goodRequest,
  stepsOf,
} from "./testing/index.ts";

/** The value at the field's place, after parsing. */
function valueAt(parsed: unknown, field: string): unknown {
  return stepsOf(field).reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | undefined)?.[step],
    parsed,
  );
}

describe("every rule of the groups capacity and pools, on either side", () => {
  for (const boundary of BOUNDARIES) {
    it(boundaryName(boundary), () => {
      const { method, field, accepts, refuses } = boundary;
      expect(accepts.length + refuses.length).toBeGreaterThan(0);
      for (const value of accepts) {
        const parsed = parseInput(method, boundaryRequest(method, field, value));
        expect(parsed, `accepts ${String(JSON.stringify(value)).slice(0, 80)}`).toMatchObject({
          ok: true,
        });
        if (!parsed.ok || boundary.constraint === "optional") continue;
        const becomes =
          "becomes" in boundary ? boundary.becomes : value === ABSENT ? undefined : value;
        expect(valueAt(parsed.value, field)).toEqual(becomes);
      }
      for (const value of refuses) {
        const parsed = parseInput(method, boundaryRequest(method, field, value));
        expect(parsed, `refuses ${String(JSON.stringify(value)).slice(0, 80)}`).toMatchObject({
          ok: false,
        });
        if (parsed.ok) continue;
        const where = JSON.stringify(stepsOf(field)).slice(0, -1);
        const paths = parsed.issues.map((issue) => JSON.stringify(issue.path));
        expect(
          paths.every((path) => path.startsWith(where)),
          `${paths.join()} is at ${where}`,
        ).toBe(true);
      }
    });
  }

  it("starts from requests that are good", () => {
    for (const method of new Set(BOUNDARIES.map((boundary) => boundary.method))) {
      expect(parseInput(method, goodRequest(method)), method).toMatchObject({ ok: true });
    }
  });

  it("has no two cases of one name", () => {
    const names = BOUNDARIES.map(boundaryName);
    expect(names.length).toBeGreaterThan(400);
    expect(new Set(names).size).toBe(names.length);
  });
});
