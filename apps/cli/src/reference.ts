/** The reference page of the command line, made of the definitions; run as a program it prints the page. */
import { Command } from "commander";
import { loadOperators } from "./operators.ts";
import { type CommandSpec, type Flag, flagsOf } from "./spec.ts";
import { BOOKING } from "./specs/booking.ts";
import { LOOKING, OTHER, SIGNING_IN } from "./specs/looking.ts";

const HEAD = `# The command line

\`berth\` asks, books, renews and gives back from a terminal or a script; the operators' commands are below. It is made
of the same client that programs use, and calls nothing that they could not.

Data goes to standard output and nothing else does: plans, questions, what comes next and errors go to standard error.
With \`-o json\` the data is what the API answers, to the letter. Text from the server is shown without what a terminal
would obey. Colours are for terminals, and \`NO_COLOR\` switches them off.

| status | means                                        |
| ------ | -------------------------------------------- |
| 0      | done                                         |
| 1      | a bug                                        |
| 2      | wrong usage, or nothing was done             |
| 3      | no capacity or quota, or what was expected has changed |
| 4      | not found or forbidden                       |
| 5      | unavailable                                  |

| variable | holds |
| -------- | ----- |
| \`BERTH_URL\` | the server; wins over what \`berth login\` keeps |
| \`BERTH_TOKEN\` | the key or token; wins as well, and goes to whichever server is meant |
| \`BERTH_TENANT\` | who is booked for; \`--tenant\` wins over it |
| \`XDG_CONFIG_HOME\` | where \`berth/config.json\` is kept; else \`~/.config\` |
| \`TZ\` | the zone that times are read and shown in |
| \`NO_COLOR\` | any value switches colours off |

The same order holds for the operators' commands that call a server (\`import\`, \`tenants\`, \`keys\`); where it comes to nothing they mean
the server of this machine, with its own key. A token that is kept goes to the server that it was kept for, and to no other.

**Times** are ISO 8601 with an offset (\`2026-12-07T09:00:00Z\`), or words in the zone of the machine: \`"2026-12-07 09:00"\`,
\`"mon 09:00"\`, \`"tomorrow 9am"\`, \`+2h\`, \`now\`. Nothing is rounded, and what names no hour is refused. Before anything is
done the time is shown back with its zone and in UTC.
**Durations** are \`2h30m\` (ms s m h d w) or ISO 8601 (\`PT90M\`, \`P7D\`), as in the API. A day is 24 hours, in \`7d\` and in \`+7d\`.
`;

/** The whole page, as Markdown. */
export async function referencePage(): Promise<string> {
  const parts = [
    HEAD,
    ...section("Signing in", SIGNING_IN),
    ...section("Looking", LOOKING),
    ...section("Booking", BOOKING),
    ...section("More", OTHER),
    ...(await operatorsSection()),
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function section(title: string, specs: readonly CommandSpec[]): string[] {
  return [`## ${title}\n`, ...specs.map(commandText)];
}

function commandText(spec: CommandSpec): string {
  const { name, says, about, arguments: args = [], examples } = spec;
  const line = ["berth", name, ...args.map((argument) => argument.name), "[options]"].join(" ");
  const rows = [...args.map((a): Flag => ({ flags: a.name, says: a.says })), ...flagsOf(spec)];
  return [
    `### berth ${name}\n`,
    `${sentence(says)}${about ? ` ${about}` : ""}\n`,
    `\`${line}\`\n`,
    ...(rows.length > 0 ? [flagTable(rows)] : []),
    "```text",
    ...examples.flatMap((example) => [`# ${example.says}`, example.line]),
    "```\n",
  ].join("\n");
}

const sentence = (says: string) => `${says.charAt(0).toUpperCase()}${says.slice(1)}.`;

function flagTable(rows: readonly Flag[]): string {
  const lines = rows.map(({ flags, says }) => `| \`${cell(flags)}\` | ${cell(says)} |`);
  return ["|     |     |", "| --- | --- |", ...lines, ""].join("\n");
}

const cell = (text: string) => lineOf(text).replaceAll("|", String.raw`\|`);
const lineOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .join(" ");

/** @throws Error without the server: the page would lack half */
async function operatorsSection(): Promise<string[]> {
  const operators = await loadOperators();
  if (!operators)
    throw new Error("the page needs @berth/server, which has the operators' commands");
  const berth = new Command("berth");
  operators.addOperatorCommands(berth);
  const head =
    "## For operators\n\nThey come with the server and run where it runs; [settings](settings.md) has the variables that they read.\n";
  return [head, ...berth.commands.flatMap((command) => operatorTexts(command, "berth"))];
}

/** Commands with others below them are only a heading for those. */
function operatorTexts(command: Command, above: string): string[] {
  const name = `${above} ${command.name()}`;
  // What is made for the generators is for nobody else.
  if (command.name() === "reference") return [];
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => operatorTexts(each, name));
  const args = command.registeredArguments.map((argument): Flag => {
    const inner = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return { flags: argument.required ? `<${inner}>` : `[${inner}]`, says: argument.description };
  });
  const flags = command.options.map(({ flags: text, description, mandatory }): Flag => ({
    flags: text,
    says: `${mandatory ? "(required) " : ""}${description}`,
  }));
  const line = [
    name,
    ...args.map((argument) => argument.flags),
    ...(flags.length > 0 ? ["[options]"] : []),
  ];
  const rows = [...args, ...flags];
  return [
    [
      `### ${name}\n`,
      `${sentence(command.description())}\n`,
      `\`${line.join(" ")}\`\n`,
      ...(rows.length > 0 ? [flagTable(rows)] : []),
    ].join("\n"),
  ];
}

if (import.meta.main) process.stdout.write(await referencePage());
