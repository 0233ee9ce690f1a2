/** The parser: made of the definitions, with only the operators' part loaded from elsewhere. */
import { Command } from "commander";
import { type Io, hasColor } from "./io.ts";
import { type Action, type Call, type CommandSpec, flagsOf } from "./spec.ts";
import { COMMANDS } from "./specs/index.ts";

const STATUSES =
  "Status: 0 done, 1 a bug, 2 wrong usage or nothing done, 3 no capacity or quota,\n" +
  "4 not found or forbidden, 5 unavailable.";

/** What parsing comes to: a command to run, or null when everything was said. */
export interface Parsed {
  readonly spec: CommandSpec | null;
  readonly args: readonly string[];
  readonly options: object;
}

/** @param onCommand told which command was called */
export function createProgram(io: Io, onCommand: (parsed: Parsed) => void): Command {
  const berth = new Command("berth")
    .description("Books GPUs: ask what fits and when, book, renew, extend, release.")
    .option("-V, --version", "print the version")
    .usage("<command> [options]")
    .exitOverride()
    .helpCommand(false)
    .helpOption("-h, --help", "show this, or a command's help")
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns || 100,
      getErrHelpWidth: () => io.stderr.columns || 100,
      getOutHasColors: () => hasColor(io, io.stdout),
      getErrHasColors: () => hasColor(io, io.stderr),
      outputError: (text, write) => write(text.replace(/^error: /, "berth: ")),
    })
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", `\n${STATUSES}`);
  for (const spec of COMMANDS) addCommand(berth, spec, onCommand);
  return berth;
}

function addCommand(berth: Command, spec: CommandSpec, onCommand: (parsed: Parsed) => void): void {
  const command = berth.command(spec.name).summary(spec.says).description(described(spec));
  for (const { name, says } of spec.arguments ?? []) command.argument(name, says);
  for (const { flags, says } of flagsOf(spec)) command.option(flags, says);
  command.addHelpText("after", `\n${examples(spec)}`);
  command.action((...given: unknown[]) => {
    const args = command.processedArgs.filter((arg): arg is string => typeof arg === "string");
    onCommand({ spec, args, options: given[given.length - 2] as object });
  });
}

function described({ says, about }: CommandSpec): string {
  const sentence = `${says.charAt(0).toUpperCase()}${says.slice(1)}.`;
  return about ? `${sentence}\n${about}` : sentence;
}

function examples({ examples: all }: CommandSpec): string {
  const lines = all.flatMap(({ line, says }) => [`  # ${says}`, `  ${line}`]);
  return ["Examples:", ...lines].join("\n");
}

/** Runs the command. */
export async function perform({ spec, args, options }: Parsed, call: Omit<Call, "args">) {
  const action: Action | undefined = await spec?.load();
  // A command's options are those of its own flags; the parser made them so.
  return action?.({ ...call, args }, options as never);
}
