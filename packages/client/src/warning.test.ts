import { describe, expect, it } from "vitest";
import { createVersionCheck, createWarn } from "./warning.ts";

/** What a client of version 2.3 says to answers of these versions. */
function said(...versions: (string | null)[]): string[] {
  const warnings: string[] = [];
  const check = createVersionCheck((message) => void warnings.push(message), "2.3");
  for (const version of versions)
    check(new Headers(version === null ? {} : { "berth-api-version": version }));
  return warnings;
}

describe("the version check", () => {
  it("is quiet about the same version and a newer minor one", () => {
    for (const version of ["2.3", "2.4", "2.10", null, "", "two", "2", "2.3.1", "1".repeat(400)])
      expect(said(version, version), String(version)).toEqual([]);
  });

  it("speaks once of another major version, and of an older minor one", () => {
    for (const version of ["1.9", "3.0", "10.3"])
      expect(said(null, version, version)).toEqual([
        `the server speaks version ${version} of the API and this client 2.3: use the client of the server's version`,
      ]);
    expect(said("2.2", "2.2")).toEqual([
      "the server speaks version 2.2 of the API and this client 2.3: what is newer than the server it refuses",
    ]);
  });
});

describe("a warning", () => {
  it("is said once, and breaks nothing when nobody wants it", () => {
    const heard: string[] = [];
    const warn = createWarn({
      onWarning: (message) => {
        heard.push(message);
        throw new Error("no log");
      },
    });
    for (const message of ["a", "b", "a"]) warn(message);
    expect(heard).toEqual(["a", "b"]);
  });
});
