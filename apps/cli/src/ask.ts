/** Questions to the person at the terminal, all on standard error; without one they name the flag that answers. */
import type { Writable } from "node:stream";
import type * as clack from "@clack/prompts";
import { EXIT, Quit, usage } from "./exit.ts";
import { type Io, canAsk, say } from "./io.ts";

type Prompts = typeof clack;
type Streams = { input: Io["stdin"]; output: Writable };

/** Asks; anything but yes ends the command. @throws Quit */
export async function confirm(
  io: Io,
  question: string,
  isAnswered: boolean | undefined,
): Promise<void> {
  if (isAnswered) return;
  needsTerminal(io, "--yes says yes to the plan; --dry-run, where there is one, only shows it");
  const { confirm: ask, isCancel } = await prompts();
  const answer = await ask({ message: question, initialValue: false, ...streams(io) });
  if (isCancel(answer) || !answer) throw undone(io);
}

/** Asks for a number to be typed that is on the screen. @throws Quit */
export async function confirmCount(io: Io, question: string, count: number): Promise<void> {
  const { text, isCancel } = await prompts();
  const answer = await text({ message: question, ...streams(io) });
  if (isCancel(answer) || answer.trim() !== String(count)) throw undone(io);
}

export async function askText(io: Io, message: string, placeholder?: string): Promise<string> {
  const { text, isCancel } = await prompts();
  const more = placeholder === undefined ? {} : { placeholder, defaultValue: placeholder };
  const answer = await text({ message, ...more, ...streams(io) });
  if (isCancel(answer)) throw undone(io);
  return answer.trim();
}

/** Lets one be chosen. */
export async function askOneOf(
  io: Io,
  message: string,
  options: readonly { readonly value: string; readonly label: string; readonly hint: string }[],
): Promise<string> {
  const { select, isCancel } = await prompts();
  const answer = await select({ message, options: [...options], ...streams(io) });
  if (isCancel(answer)) throw undone(io);
  return answer;
}

/** What is typed is not shown. */
export async function askSecret(io: Io, message: string): Promise<string> {
  const { password, isCancel } = await prompts();
  const answer = await password({ message, ...streams(io) });
  if (isCancel(answer)) throw undone(io);
  return answer.trim();
}

/** @param flag what a script says in place of an answer */
export function needsTerminal(io: Io, flag: string): void {
  if (!canAsk(io)) throw usage("there is no terminal to ask at", `  ${flag}`);
}

function undone(io: Io): Quit {
  say(io, "nothing was done");
  return new Quit(EXIT.usage);
}

/** Only a command that asks waits for this to load. */
const prompts = (): Promise<Prompts> => import("@clack/prompts");

const streams = ({ stdin: input, stderr: output }: Io): Streams => ({ input, output });
