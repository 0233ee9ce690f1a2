/** `pnpm console:screenshots`: pictures of every page of the console, in the folder that SCREENSHOTS names. */
import { defineConfig } from "vitest/config";
import tests from "./vitest.console.config.ts";

export default defineConfig({
  test: {
    ...tests.test,
    name: "screenshots",
    include: ["apps/console/test/screenshots/**/*.test.ts"],
    testTimeout: 180_000,
  },
});
