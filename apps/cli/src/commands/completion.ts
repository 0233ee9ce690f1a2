/** `berth completion`: what makes a shell complete the command, made of the definitions. */
import { usage } from "../exit.ts";
import { loadOperators } from "../operators.ts";
import { type Call, type CommandSpec, type Flag, flagsOf } from "../spec.ts";
import { COMMANDS, OPERATORS } from "../specs/index.ts";

interface Word {
  readonly name: string;
  readonly says: string;
  readonly flags: readonly Flag[];
  /** What may stand after it. */
  readonly words: readonly string[];
}

const SHELLS: Readonly<Record<string, (words: readonly Word[]) => string>> = { bash, zsh, fish };

export async function completion({ io, args }: Call): Promise<void> {
  const [shell = ""] = args;
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!write)
    throw usage(`there is completion for ${Object.keys(SHELLS).join(", ")}, not for ${shell}`);
  io.stdout.write(write([...COMMANDS.map(wordOf), ...(await operatorWords())]));
}

function wordOf(spec: CommandSpec): Word {
  const words = spec.name === "completion" ? Object.keys(SHELLS) : [];
  return { name: spec.name, says: spec.says, flags: flagsOf(spec), words };
}

/** Without the server there are none to complete. */
async function operatorWords(): Promise<Word[]> {
  const operators = await loadOperators();
  if (!operators) return [];
  const { Command } = await import("commander");
  const berth = new Command("berth");
  operators.addOperatorCommands(berth);
  return berth.commands
    .filter((command) => OPERATORS.includes(command.name()))
    .map((command) => ({
      name: command.name(),
      says: command.description(),
      flags: command.options.map(({ flags, description }) => ({ flags, says: description })),
      words: command.commands.map((below) => below.name()),
    }));
}

const longNames = (flags: readonly Flag[]) =>
  flags.map(({ flags: text }) => /--[\w-]+/.exec(text)?.[0] ?? text);
const takesValue = ({ flags }: Flag) => flags.includes("<");
const shortName = ({ flags }: Flag) => /^-(\w)\b/.exec(flags)?.[1];

function bash(words: readonly Word[]): string {
  const commands = words
    .map(
      ({ name, flags, words: below }) =>
        `    ${name}) words="${[...below, ...longNames(flags), "--help"].join(" ")}" ;;`,
    )
    .join("\n");
  const values = words
    .flatMap(({ name, flags }) =>
      flags.flatMap((flag) => {
        if (!flag.values) return [];
        const short = shortName(flag);
        const names = [...longNames([flag]), ...(short ? [`-${short}`] : [])];
        return names.map(
          (each) => `    "${name} ${each}") words="${flag.values?.join(" ") ?? ""}" ;;`,
        );
      }),
    )
    .join("\n");
  return `# berth completion for bash
_berth() {
  local words="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${words.map(({ name }) => name).join(" ")} --help --version"
  else
    case "\${COMP_WORDS[1]}" in
${commands}
    esac
    case "\${COMP_WORDS[1]} $previous" in
${values}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _berth berth
`;
}

function zsh(words: readonly Word[]): string {
  const list = words.map(({ name, says }) => `    ${single(`${name}:${says}`)}`).join("\n");
  const cases = words
    .map(({ name, flags, words: below }) => {
      const specs = flags.map((flag) =>
        single(`${longNames([flag])[0]}[${bracketed(flag.says)}]${valueOf(flag)}`),
      );
      const more = below.length > 0 ? [single(`1:what:(${below.join(" ")})`)] : [];
      return `    ${name}) _arguments ${[...specs, ...more, "'*:file:_files'"].join(" ")} ;;`;
    })
    .join("\n");
  return `#compdef berth
_berth() {
  local -a commands
  commands=(
${list}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT -= 1 ))
  case "$command" in
${cases}
  esac
}
if [ "$funcstack[1]" = _berth ]; then _berth "$@"; else compdef _berth berth; fi
`;
}

const single = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const bracketed = (text: string) => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);

function valueOf(flag: Flag): string {
  if (!takesValue(flag)) return "";
  return flag.values ? `:value:(${flag.values.join(" ")})` : ":value:";
}

function fish(words: readonly Word[]): string {
  const lines = ["# berth completion for fish", "complete -c berth -f"];
  for (const { name, says, flags, words: below } of words) {
    lines.push(`complete -c berth -n __fish_use_subcommand -a ${name} -d ${single(says)}`);
    const seen = `-n "__fish_seen_subcommand_from ${name}"`;
    if (below.length > 0) lines.push(`complete -c berth ${seen} -a "${below.join(" ")}"`);
    for (const flag of flags) {
      const short = shortName(flag);
      const values = flag.values ? ` -a "${flag.values.join(" ")}"` : "";
      const long = longNames([flag])[0]?.slice(2) ?? "";
      lines.push(
        `complete -c berth ${seen} -l ${long}${short ? ` -s ${short}` : ""}${takesValue(flag) ? " -x" : ""}${values} -d ${single(flag.says)}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}
