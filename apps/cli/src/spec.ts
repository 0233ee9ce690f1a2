/** What a command is called and told: read by the parser, the completion and the reference page alike. */
import type { Status } from "./exit.ts";
import type { Io } from "./io.ts";

export interface Flag {
  /** As the parser takes them: `--pool <id|label>`. */
  readonly flags: string;
  readonly says: string;
  /** The values there are, for the completion. */
  readonly values?: readonly string[];
}

export interface Argument {
  /** `<gpus>`, or `[id]` for what may be left out. */
  readonly name: string;
  readonly says: string;
}

export interface Example {
  readonly line: string;
  readonly says: string;
}

export interface CommandSpec {
  readonly name: string;
  /** Half a sentence, for the list of commands. */
  readonly says: string;
  /** What more there is to know, in whole sentences. */
  readonly about?: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: readonly Flag[];
  /** Takes `-o`, `--wide` and `--columns`. */
  readonly isAnswer?: true;
  /** Takes `--tenant`. */
  readonly isTenants?: true;
  readonly examples: readonly Example[];
  /** Loaded when it runs. */
  readonly load: () => Promise<Action>;
}

/** How a command was called. */
export interface Call {
  readonly io: Io;
  /** All that was typed after `berth`. */
  readonly argv: readonly string[];
  readonly args: readonly string[];
  /** Told the server's address as soon as it is known, for what is said of errors. */
  readonly onServer: (url: string) => void;
}

/** Does the work; without a status it is 0. The options are those of the command's flags. */
export type Action = (call: Call, options: never) => Promise<Status | void>;

export const TENANT: Flag = {
  flags: "--tenant <id>",
  says: "who it is for; else BERTH_TENANT, the login's, or the key's own",
};

export const ANSWER: readonly Flag[] = [
  {
    flags: "-o, --output <form>",
    says: "table, json (as the API answers), jsonl (a line an entry) or yaml; default table",
    values: ["table", "json", "jsonl", "yaml"],
  },
  { flags: "--wide", says: "every column, nothing cut to the terminal" },
  { flags: "--columns <names>", says: "these columns of the table, by comma" },
];

export const YES: Flag = {
  flags: "-y, --yes",
  says: "do not ask: without a terminal it has to be said",
};

/** All flags of a command, its own first. */
export function flagsOf({ flags = [], isAnswer, isTenants }: CommandSpec): readonly Flag[] {
  return [...flags, ...(isTenants ? [TENANT] : []), ...(isAnswer ? ANSWER : [])];
}
