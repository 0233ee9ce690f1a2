import { describe, expect, it } from "vitest";
import { PageError, blocksOf, withOutput } from "./blocks.ts";

const page = (...lines: string[]) => lines.join("\n");

describe("a page's blocks", () => {
  it("are those of ts and sh, in order, hidden ones as well, each with its line", () => {
    const text = page(
      "# A",
      "<!-- stage",
      "```sh",
      "a=1",
      "```",
      "-->",
      "",
      "```ts",
      "b();",
      "c();",
      "```",
    );
    expect(blocksOf(text)).toMatchObject([
      { language: "sh", code: "a=1", line: 4 },
      { language: "ts", code: "b();\nc();", line: 9 },
    ]);
  });

  it("have the text that follows as their output, unless something is said in between", () => {
    const text = page(
      "```sh",
      "a",
      "```",
      "",
      "```text",
      "1",
      "```",
      "```sh",
      "b",
      "```",
      "so",
      "```text",
      "2",
      "```",
    );
    const [first, second] = blocksOf(text);
    expect(first?.output).toEqual({ text: "1", line: 6 });
    expect(second?.output).toBeUndefined();
  });

  it("in tabs have the outputs of their labels", () => {
    const tabs = ["```sh [One]", "a", "```", "", "```ts [Two]", "b();", "```", ":::"];
    const outputs = ["```text [One]", "1", "```", "", "```text [Two]", "2", "```"];
    const found = blocksOf(page("::: code-group", ...tabs, "::: code-group", ...outputs));
    expect(found.map(({ output }) => output?.text)).toEqual(["1", "2"]);
  });

  it("are marked by the comment above them, tabs together, and by none further up", () => {
    const text = page(
      "<!-- status: 3 -->",
      "",
      "::: code-group",
      "",
      "```sh [A]",
      "a",
      "```",
      "",
      "```sh",
      "b",
      "```",
    );
    expect(blocksOf(text)).toMatchObject([{ status: 3 }, { status: 3 }]);
    const apart = page("<!-- status: 3 -->", "text", "```sh", "a", "```");
    expect(blocksOf(apart)).toMatchObject([{ status: 0 }]);
  });

  it("are not run for a reason only", () => {
    expect(blocksOf(page("<!-- no-run: it waits -->", "```sh", "a", "```"))).toMatchObject([
      { noRun: "it waits" },
    ]);
    expect(() => blocksOf(page("<!-- no-run -->", "```sh", "a", "```"))).toThrow(PageError);
    expect(() => blocksOf(page("<!-- status: no -->", "```sh", "a", "```"))).toThrow(
      "takes a number",
    );
  });

  it("may be those of some sections alone", () => {
    const text = page("## A", "```sh", "a", "```", "## B", "```sh", "b", "```");
    expect(blocksOf(text, ["B"]).map(({ code }) => code)).toEqual(["b"]);
    expect(() => blocksOf(text, ["C"])).toThrow('there is no section "C"');
  });

  it("have to be closed", () => {
    expect(() => blocksOf(page("```sh", "a"))).toThrow("line 1: the block is not closed");
  });

  it("get what they printed, where there was nothing and where there was something else", () => {
    for (const old of [[], ["old"], ["old", "older"]]) {
      const text = page("```sh", "a", "```", "```text", ...old, "```", "end");
      const [block] = blocksOf(text);
      if (!block?.output) throw new Error("the block has an output");
      expect(withOutput(text, block.output, "new")).toBe(
        page("```sh", "a", "```", "```text", "new", "```", "end"),
      );
    }
  });
});
