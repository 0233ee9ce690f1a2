/** Questions to the person at the terminal, all on standard error; without one they name the flag that answers. */
import type { Writable } from "node:stream";
import type * as clack from "@clack/prompts";
import { EXIT, Quit, usage } from "./exit.ts";
import { type Io, canAsk, say } from "./io.ts";

type Prompts = typeof clack;
type Streams = { input: Io["stdin"]; output: Writable; signal: AbortSignal };

/** Asks; anything but yes ends the command. @throws Quit */
export async function confirm(
  io: Io,
  question: string,
  isAnswered: boolean | undefined,
): Promise<void> {
  if (isAnswered) return;
  needsTerminal(io, "--yes says yes to the plan; --dry-run, where there is one, only shows it");
  const answer = await asked(io, ({ confirm: ask }, streams) =>
    ask({ message: question, initialValue: false, ...streams }),
  );
  if (!answer) throw undone(io);
}

/** Asks for a number to be typed that is on the screen. @throws Quit */
export async function confirmCount(io: Io, question: string, count: number): Promise<void> {
  const answer = await asked(io, ({ text }, streams) => text({ message: question, ...streams }));
  if (answer.trim() !== String(count)) throw undone(io);
}

export async function askText(io: Io, message: string, placeholder?: string): Promise<string> {
  const more = placeholder === undefined ? {} : { placeholder, defaultValue: placeholder };
  const answer = await asked(io, ({ text }, streams) => text({ message, ...more, ...streams }));
  return answer.trim();
}

/** Lets one be chosen. */
export async function askOneOf(
  io: Io,
  message: string,
  options: readonly { readonly value: string; readonly label: string; readonly hint: string }[],
): Promise<string> {
  return asked(io, ({ select }, streams) => select({ message, options: [...options], ...streams }));
}

/** What is typed is not shown. */
export async function askSecret(io: Io, message: string): Promise<string> {
  const answer = await asked(io, ({ password }, streams) => password({ message, ...streams }));
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

/** The answer. Ctrl-C, Ctrl-D and a terminal that goes away are none. @throws Quit */
async function asked<T>(
  io: Io,
  ask: (prompts: Prompts, streams: Streams) => Promise<T>,
): Promise<Exclude<T, symbol>> {
  const { stdin: input, stderr: output } = io;
  // Only a command that asks waits for this to load.
  const prompts = await import("@clack/prompts");
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  // The library takes these for an end of reading, and would answer nothing at all.
  const onKey = (
    _text: unknown,
    key?: { readonly ctrl?: boolean; readonly name?: string },
  ): void => {
    if (key?.ctrl && key.name === "d") leave();
  };
  input.prependListener("keypress", onKey).once("end", leave).once("close", leave);
  try {
    const answer = await ask(prompts, { input, output, signal: gone.signal });
    if (prompts.isCancel(answer)) throw undone(io);
    return answer as Exclude<T, symbol>;
  } finally {
    input.off("keypress", onKey).off("end", leave).off("close", leave);
  }
}
