/** `pnpm demo`: everything from nothing, on a database that is gone afterwards; then it keeps serving. */
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { outliveReaders, standardOutput } from "../commands/output.ts";
import { keepCompiled } from "../compile-cache.ts";
import { describeVariables } from "../config.ts";
import { DEMO_VARIABLES } from "./plan.ts";
import type { DemoOptions } from "./run.ts";

keepCompiled();
outliveReaders();
const EXAMPLE = fileURLToPath(new URL("../../demo-fleet.json", import.meta.url));

try {
  await new Command("demo")
    .description("Starts Berth on a throw-away database, imports a fleet and books on it.")
    .option("--fleet <file>", "an inventory to import instead of the example", EXAMPLE)
    .option("--once", "end when the story is told")
    .addHelpText("after", `\n${describeVariables(DEMO_VARIABLES)}`)
    .exitOverride()
    .action(async (options: DemoOptions) => (await import("./run.ts")).demo(options))
    .parseAsync();
} catch (error) {
  const { endingOf } = await import("../commands/exit.ts");
  const { status, line } = endingOf(error);
  if (line !== null) standardOutput().say(`demo: ${line}`);
  process.exitCode = status;
}
