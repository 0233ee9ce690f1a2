import { describe, expect, it } from "vitest";
import { instantOf, wallText } from "./when-field.tsx";

describe("an instant as wall time", () => {
  it("comes back as it was, in summer and in winter", () => {
    for (const text of ["2026-07-01T12:00:00Z", "2026-12-07T08:00:00Z"]) {
      const at = Date.parse(text);
      expect(instantOf(wallText(at, "Europe/Berlin"), "Europe/Berlin")).toBe(at);
    }
    expect(wallText(Date.parse("2026-12-07T08:00:00Z"), "Europe/Berlin")).toBe("2026-12-07T09:00");
  });

  it("takes the earlier of a time that comes twice and the next of one that never comes", () => {
    const berlin = (text: string): string =>
      new Date(instantOf(text, "Europe/Berlin") ?? 0).toISOString();
    expect(berlin("2026-10-25T02:30")).toBe("2026-10-25T00:30:00.000Z");
    expect(berlin("2026-03-29T02:30")).toBe("2026-03-29T01:30:00.000Z");
  });

  it("is none for what is empty or no time", () => {
    expect(instantOf("", "UTC")).toBeNull();
    expect(instantOf("soon", "UTC")).toBeNull();
  });
});
