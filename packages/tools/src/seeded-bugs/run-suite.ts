/** Runs suites of one tree and says which of their tests failed, and how. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Suite } from "./bugs.ts";

export interface Failure {
  readonly test: string;
  readonly message: string;
}

export interface Outcome {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** A file that could not be loaded, or a run that gave no report: nobody saw anything. */
  readonly broken: string | null;
  readonly seconds: number;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const PATIENCE_MS = 240_000;

/** A suite that takes too long is broken, not red. */
export async function runSuites(root: string, suites: readonly Suite[]): Promise<Outcome> {
  const report = path.join(root, `report-${process.hrtime.bigint()}.json`);
  const projects = [...new Set(suites.map(({ project }) => project))];
  const started = performance.now();
  const output = await run(root, {
    args: [
      ...["run", "--config", "vitest.workspace.ts", "--reporter=json", `--outputFile=${report}`],
      ...projects.flatMap((project) => ["--project", project]),
      ...new Set(suites.map(({ file }) => file)),
    ],
    env: Object.assign({}, ...suites.map(({ env }) => env)) as Record<string, string>,
  });
  const seconds = (performance.now() - started) / 1_000;
  if (!existsSync(report))
    return { passed: 0, failures: [], broken: output.slice(-2_000) || "no report", seconds };
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const unread = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  return {
    passed: tests.filter(({ status }) => status === "passed").length,
    failures: tests
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => ({
        test: fullName,
        message: failureMessages.join("\n"),
      })),
    broken: unread ? `${unread.name}: ${unread.message}` : null,
    seconds,
  };
}

function run(
  root: string,
  { args, env }: { readonly args: readonly string[]; readonly env: Record<string, string> },
): Promise<string> {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PATIENCE_MS,
  });
  const output: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => output.push(data));
  child.stderr.on("data", (data: Buffer) => output.push(data));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(output).toString("utf8")));
  });
}
