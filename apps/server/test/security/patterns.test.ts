/** No pattern of the product takes more than linear time, and the largest texts are refused at once. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "vitest/node";
import { check } from "recheck";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../../..");

interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly where: string;
}

/** Every literal of every file that ships. */
function patterns(): Pattern[] {
  const files = globSync("{packages,apps}/*/src/**/*.ts", { cwd: ROOT }).filter(
    (file) => !/\.test\.ts$|\/testing\/|^packages\/tools\//.test(file),
  );
  const found: Pattern[] = [];
  for (const file of files) {
    const visit = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      if ("regex" in node) {
        const { pattern, flags } = node.regex as { pattern: string; flags: string };
        found.push({ source: pattern, flags, where: file });
      }
      for (const part of Object.values(node)) visit(part);
    };
    visit(parseAst(readFileSync(path.join(ROOT, file), "utf8"), { lang: "ts" }));
  }
  return found;
}

/** By automaton, which is exact; where the pattern looks around, by attacks that are tried on it. */
async function judged(source: string, flags: string): Promise<string> {
  const exact = await check(source, flags, { timeout: 5_000, checker: "automaton" });
  const found =
    exact.status === "unknown"
      ? await check(source, flags, { timeout: 10_000, checker: "fuzz" })
      : exact;
  if (found.status === "unknown") return `unknown (${found.error.kind})`;
  return found.complexity.type === "safe" ? "linear" : found.complexity.type;
}

/** Polynomial, and harmless: what each reads has an end of its own. */
const BOUNDED: Readonly<Record<string, string>> = {
  "packages/client/src/address.ts \\/+$": "the server's address, which the program itself gives",
  "packages/domain/src/duration.ts (\\d+)(ms|s|m|h|d|w)": "at most 64 characters, by the contract",
  "packages/db/src/embedded/start-postgres.ts shared memory block .* still in use":
    "the end of the log of a PostgreSQL of our own",
  "apps/server/src/import/draft.ts ^0+([0-9a-f]{4,}:)":
    "one field of a file that an operator imports",
  "apps/server/src/import/slurm/conf-lines.ts (^|[^\\\\])#.*$":
    "a line of an operator's slurm.conf",
  'apps/server/src/import/slurm/conf-lines.ts (?<!\\w)([A-Za-z]\\w*)\\s*[+-]?=\\s*(?:"([^"]*)"|(\\S*))':
    "a line of an operator's slurm.conf",
  "apps/server/src/import/slurm/gres.ts \\([^)]*\\)":
    "one field of a file that an operator imports",
  "apps/server/src/import/slurm/state.ts \\W+$": "one field of a file that an operator imports",
};

describe("patterns", () => {
  const all = patterns();
  const distinct = [
    ...new Map(all.map((each) => [`/${each.source}/${each.flags}`, each])).values(),
  ];

  it("are all linear, or read no more than so much", async () => {
    expect(distinct.length).toBeGreaterThan(50);
    const slow: string[] = [];
    const gone = new Set(Object.keys(BOUNDED));
    for (const { source, flags, where } of distinct) {
      const isBounded = gone.delete(`${where} ${source}`);
      const found = await judged(source, flags);
      if (found === "linear" || (found === "polynomial" && isBounded)) continue;
      slow.push(`${where} ${source} is ${found}`);
    }
    process.stdout.write(`S34: ${distinct.length} patterns of ${all.length} places\n`);
    expect(slow).toEqual([]);
    expect([...gone]).toEqual([]);
  }, 180_000);

  it("that are not, are found", async () => {
    const found = await check("^(a+)+$", "", { timeout: 5_000 });
    expect(found.status).toBe("vulnerable");
  });
});
