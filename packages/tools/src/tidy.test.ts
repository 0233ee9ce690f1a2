import { describe, expect, it } from "vitest";
import { LINES_MAX, tidyFindings } from "./tidy.ts";

const found = (file: string, text: string): string[] =>
  tidyFindings(file, text).map((f) => `${f.line} ${f.message}`);

/** Put together here, so that this file is tidy. */
const word = (...parts: string[]): string => parts.join("");

describe("tidy", () => {
  it.each([
    ["a path of one machine", "README.md", `see ${word("/wo", "rk/main/x")}`],
    ["a home folder", "packages/db/src/a.ts", `const a = "${word("/ho", "me/ann/x")}";`],
    ["a registry", ".npmrc", `registry=https://${word("regis", "try.npmjs.org")}`],
    [
      "a mirror in the lockfile",
      "pnpm-lock.yaml",
      `resolution: {tarball: ${word("ht", "tp://mirror/x.tgz")}}`,
    ],
    ["something left to do", "packages/db/src/a.ts", `// ${word("TO", "DO")}: later`],
    [
      "a half-done function",
      "packages/db/src/a.ts",
      `throw new Error("${word("not ", "implemented")}");`,
    ],
    ["a silenced type error", "packages/db/src/a.ts", `// ${word("@ts-", "ignore")}`],
    ["a focused test", "packages/db/src/a.test.ts", `${word("it.on", "ly")}("runs", () => 1);`],
    [
      "a skipped test",
      "apps/server/test/a.test.ts",
      `${word("describe.sk", "ip")}("runs", () => 1);`,
    ],
    ["a dropped table", "packages/db/migrations/0002_x.sql", `drop table pools;`],
    [
      "a dropped column",
      "packages/db/migrations/0002_x.sql",
      `ALTER TABLE "pools" DROP COLUMN "a";`,
    ],
  ])("finds %s", (_title, file, text) => {
    expect(found(file, `first\n${text}\n`)).toEqual([expect.stringMatching(/^2 /)]);
  });

  it("finds a file one line too long, of any kind of code", () => {
    expect(found("packages/db/src/gate.sql", "select 1;\n".repeat(LINES_MAX))).toEqual([]);
    expect(found("packages/db/src/gate.sql", "select 1;\n".repeat(LINES_MAX + 1))).toHaveLength(1);
  });

  it("leaves generated files their length, and nothing else", () => {
    const long = "export {};\n".repeat(LINES_MAX + 1);
    expect(found("packages/client/src/api.gen.ts", long)).toEqual([]);
    expect(found("packages/client/src/api.gen.ts", `// ${word("FIX", "ME")}\n`)).toHaveLength(1);
  });

  it("lets a migration destroy when it names its decision", () => {
    expect(
      found(
        "packages/db/migrations/0002_x.sql",
        "-- ADR 0042: nobody reads it.\ndrop table old;\n",
      ),
    ).toEqual([]);
  });

  it("does not take a URL's path or a mount in a container for a machine's", () => {
    expect(
      found("docs/a.md", "https://example.org/home/ann/ and `./tmp/x/` and /var/lib/berth/\n"),
    ).toEqual([]);
  });
});
