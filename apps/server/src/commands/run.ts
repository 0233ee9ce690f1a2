/** Runs the command that the arguments name, and ends the process with its status. */
import { Command, CommanderError } from "commander";
import { version } from "../version.ts";
import { addOperatorCommands, helpAsOption, operatorEnding } from "./program.ts";

const STATUSES =
  "`berth serve --help` lists every setting.\n\n" +
  "Exit status: 0 done, 1 a bug or a violated invariant, 2 wrong usage, 3 no capacity or quota,\n" +
  "4 not found or forbidden, 5 unavailable.";

export async function runOperatorCommand(): Promise<void> {
  const berth = new Command("berth")
    .description("Books GPUs: exact units, a time axis, tenants with quota.")
    .version(version())
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", `\n${STATUSES}`);
  addOperatorCommands(berth);
  try {
    await berth.parseAsync(helpAsOption(process.argv.slice(2)), { from: "user" });
  } catch (error) {
    // Commander has said everything; how other errors end is loaded when there is one.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else await end(error);
  }
}

async function end(error: unknown): Promise<void> {
  const { status, line } = await operatorEnding(error);
  if (line !== null) process.stderr.write(`berth: ${line}\n`);
  process.exitCode = status;
}
