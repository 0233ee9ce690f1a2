/**
 * What no linter looks for: long files of any kind, paths of one machine, package mirrors, tests that do not
 * run, things left to do, and migrations that destroy without a decision. Reads what git would commit.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Finding, printFindings } from "./report.ts";

interface Rule {
  readonly applies: RegExp;
  readonly exempt?: RegExp;
  readonly pattern: RegExp;
  readonly message: string;
}

export const LINES_MAX = 400;
const CODE = /\.(ts|tsx|js|mjs|sql|cedar)$/;
const TESTS = /\.(test|sim|prop)\.tsx?$|\/test\//;
const GENERATED =
  /\.gen\.|(^|\/)(pnpm-lock\.yaml|openapi\.json|schema\.sql)$|\/migrations\/|\/reference\//;
const BINARY = /\.(png|jpg|gif|ico|woff2?|tgz|gz|wasm)$/;

/** Written so that this file does not find itself: `[X]` is the letter X. */
const RULES: readonly Rule[] = [
  {
    applies: /./,
    pattern: /(?<![\w.@:/-])\/(?:[w]ork|[r]oot|[h]ome\/\w+|[U]sers\/\w+|[t]mp\/\w+)\//,
    message: "a path of one machine",
  },
  {
    applies: /./,
    pattern: /[v]erdaccio|[a]rtifactory|[r]egistry\.npm|[n]pmmirror|[t]arball: http/,
    message: "a package registry by name: the one who installs chooses it",
  },
  {
    applies: CODE,
    pattern: /\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b/,
    message: "left to do: do it, or open an issue",
  },
  {
    applies: CODE,
    pattern: /[n]ot implemented/i,
    message: "half done: refuse it by name, or finish it",
  },
  { applies: CODE, pattern: /@ts-(?:[i]gnore|[n]ocheck)/, message: "a silenced type error" },
  {
    applies: TESTS,
    pattern: /\b(?:it|test|describe)\.(?:[s]kip|[o]nly|[t]odo)\b|\b[x](?:it|describe|test)\(/,
    message: "a test that does not run, or keeps others from running",
  },
];

/** Everything wrong with one file. `file` is its path from the root of the repository. */
export function tidyFindings(file: string, text: string): Finding[] {
  const lines = text.split("\n");
  const found: Finding[] = [];
  for (const rule of RULES) {
    if (!rule.applies.test(file)) continue;
    for (const [index, line] of lines.entries()) {
      if (rule.pattern.test(line)) found.push({ file, line: index + 1, message: rule.message });
    }
  }
  const length = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (CODE.test(file) && !GENERATED.test(file) && length > LINES_MAX) {
    found.push({
      file,
      line: length,
      message: `${length} lines, at most ${LINES_MAX}: one concept a file`,
    });
  }
  if (/\/migrations\/[^/]+\.sql$/.test(file)) found.push(...destructive(file, lines));
  return found;
}

/** A migration that drops data names the decision in the line above: `-- ADR 0042: …`. */
function destructive(file: string, lines: readonly string[]): Finding[] {
  return lines.flatMap((line, index) =>
    /^\s*(?:drop\s+(?:table|schema|type)\b|truncate\b|alter\s+table\b.*\bdrop\s+column\b)/i.test(
      line,
    ) && !/^--.*\bADR \d{4}\b/.test(lines[index - 1] ?? "")
      ? [
          {
            file,
            line: index + 1,
            message: "destroys data: name its decision above, `-- ADR NNNN: why`",
          },
        ]
      : [],
  );
}

/** Tracked files and those that would be added; all of them, so a new file is checked before its commit. */
function committed(root: string): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const out = execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(out.split("\0"))].filter((file) => file !== "" && !BINARY.test(file)).sort();
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // Deleted, and the deletion is not staged yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "../../..");
  const files = committed(root);
  process.stdout.write(`${files.length} files\n`);
  printFindings(files.flatMap((file) => tidyFindings(file, read(path.join(root, file)) ?? "")));
}
