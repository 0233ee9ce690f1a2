/** `pnpm test:console`: the built console in a real Chromium, on real servers. */
import { defineConfig } from "vitest/config";
import { Tally } from "./vitest.workspace.ts";

export default defineConfig({
  test: {
    name: "console",
    reporters: ["default", new Tally()],
    // A server, a PostgreSQL and a browser each: two would measure one another.
    maxWorkers: 1,
    include: ["apps/console/test/browser/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
