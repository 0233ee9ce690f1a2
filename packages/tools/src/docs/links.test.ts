/** Where pages lead: files and headings that are there, and for every kind of error a page. */
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { ERROR_KINDS } from "@berth/contract";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { DOCS, ROOT, allPages } from "./pages.ts";

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const documents = [
  ...globSync("apps/docs/**/*.md", {
    cwd: ROOT,
    exclude: (name) => /node_modules|dist/.test(name),
  }),
  "README.md",
  "CONTRIBUTING.md",
  "SUPPORT.md",
  "examples/README.md",
  "packages/client/README.md",
  "packages/client/SUPPORT.md",
];

/** As the site and GitHub make them of headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[`*]|[^\p{L}\p{N} _-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

/** Links of a document that lead nowhere. */
function deadLinks(file: string): string[] {
  const text = read(file)
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [target = "", anchor] = link.split("#");
    const at = target === "" ? file : path.join(path.dirname(file), target);
    if (!existsSync(path.join(ROOT, at))) return [`${file}: ${link}`];
    if (anchor === undefined || !at.endsWith(".md")) return [];
    return anchorsOf(read(at)).has(anchor) ? [] : [`${file}: ${link} (no such heading)`];
  });
}

describe("links", () => {
  it("lead to files and headings that are there", () => {
    expect(documents.length).toBeGreaterThan(100);
    expect(documents.flatMap(deadLinks)).toEqual([]);
  });

  it("of the site stay within it", () => {
    const out = documents
      .filter((file) => file.startsWith("apps/docs/"))
      .flatMap((file) =>
        [...read(file).matchAll(/\]\((\.\.[^)#\s]*)/g)]
          .filter(([, link = ""]) =>
            path.relative(DOCS, path.resolve(ROOT, path.dirname(file), link)).startsWith(".."),
          )
          .map(([, link]) => `${file}: ${link}`),
      );
    expect(out).toEqual([]);
  });

  it("of what the client's tarball has stay within it", () => {
    const inside = ["README.md", "SUPPORT.md", "LICENSE"];
    const links = ["README.md", "SUPPORT.md"].flatMap((file) =>
      [...read(`packages/client/${file}`).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(
        ([, link = ""]) => link,
      ),
    );
    expect(links).toContain("SUPPORT.md");
    expect(links.filter((link) => !inside.includes(link))).toEqual([]);
  });

  it("of llms.txt lead to pages", () => {
    const template = read("apps/docs/.vitepress/llms.ts");
    const links = [...template.matchAll(/\$\{base\}([\w/-]+)\.md/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(20);
    const missing = links.filter(
      (link) => !["", "/index"].some((more) => existsSync(path.join(DOCS, `${link}${more}.md`))),
    );
    expect(missing).toEqual([]);
  });
});

describe("every guide", () => {
  const sidebar = read("apps/docs/.vitepress/sidebar.ts");
  it.each(globSync(["how-to/*.md", "explanation/*.md", "reference/*.md"], { cwd: DOCS }))(
    "%s is found from the sidebar",
    (file) => {
      const page = file.replace(/(?:index)?\.md$/, "");
      const group = path.basename(page);
      expect(
        sidebar.includes(`"/${page}"`) || sidebar.includes(`"${group}"`) || page.endsWith("/"),
      ).toBe(true);
    },
  );
});

it("the page of each kind of error is there, and no page of another", () => {
  const pages = globSync("errors/*.md", { cwd: DOCS }).map((file) => path.basename(file, ".md"));
  expect(pages.filter((name) => name !== "index").sort()).toEqual([...ERROR_KINDS.keys()].sort());
});

describe("what stands for an answer is there:", () => {
  it("the tests of the complaints", () => {
    const text = read("apps/docs/explanation/complaints.md");
    const rows = text.split("\n").filter((line) => /^\| \d+ /.test(line));
    expect(rows).toHaveLength(15);
    const named = rows.map((row) =>
      [...row.matchAll(/`((?:apps|packages)\/[\w./-]+)`/g)].map(([, file = ""]) => file),
    );
    expect(named.filter((files) => files.length === 0)).toEqual([]);
    const files = [...text.matchAll(/`((?:apps|packages)\/[\w./-]+)`/g)].map(
      ([, file = ""]) => file,
    );
    expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it("the tests that a block names that is not run", () => {
    const tests = globSync("{apps,packages}/*/{src,test}/**/*.test.ts", { cwd: ROOT });
    const names = new Set(tests.map((file) => path.basename(file)));
    const told = allPages().flatMap((page) =>
      blocksOf(page.text, page.sections).flatMap(
        ({ noRun = "" }) => noRun.match(/[\w-]+\.test\.ts/g) ?? [],
      ),
    );
    expect(told.length).toBeGreaterThan(3);
    expect(told.filter((name) => !names.has(name))).toEqual([]);
  });
});
