/** `pnpm faults`: every fault, one after the other, on a machine that does nothing else. */
import { defineConfig } from "vitest/config";
import { Tally, withDatabase } from "./vitest.workspace.ts";

export default defineConfig({
  test: {
    reporters: ["default", new Tally()],
    maxWorkers: 1,
    include: ["apps/server/test/faults/**/*.test.ts"],
    ...withDatabase,
  },
});
