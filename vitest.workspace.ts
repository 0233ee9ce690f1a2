import { defineConfig } from "vitest/config";
import type { Reporter, TestModule } from "vitest/node";

/** Prints `N passed, N failed` as the run's very last line; a file that cannot load counts as failed. */
export class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: string): void {
    const count = {
      passed: 0,
      failed: errors.length + (reason === "interrupted" ? 1 : 0),
      skipped: 0,
    };
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      for (const state of states) count[state === "pending" ? "skipped" : state] += 1;
      if (module.state() === "failed" && !states.includes("failed")) count.failed += 1;
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    process.on("exit", () =>
      process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`),
    );
  }
}

/** Faults that take many minutes at their whole counts, or judge others' slowest call: `pnpm faults` runs them. */
const BY_THEMSELVES = ["killed", "failpoints", "largest-requests"].map(
  (name) => `apps/server/test/faults/${name}.test.ts`,
);

export const withDatabase = {
  globalSetup: ["packages/db/src/testing/global-setup.ts"],
  testTimeout: 60_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    reporters: ["default", new Tally()],
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "packages/{domain,contract,client,tools}/src/**/*.test.ts",
            "apps/console/src/**/*.test.ts",
          ],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "db",
          include: ["packages/{db,engine,api}/src/**/*.test.ts"],
          ...withDatabase,
        },
      },
      {
        test: {
          name: "server",
          include: ["apps/*/test/**/*.test.ts"],
          exclude: [...BY_THEMSELVES, "apps/console/**"],
          ...withDatabase,
        },
      },
    ],
  },
});
