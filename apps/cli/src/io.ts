/** What a command has of the world around it; tests give it another one. */
import type { Readable, Writable } from "node:stream";

export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Io {
  readonly stdin: Readable & Pick<Terminal, "isTTY">;
  /** Data, and nothing else. */
  readonly stdout: Writable & Terminal;
  /** Everything for people. */
  readonly stderr: Writable & Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A line for the person at the terminal. */
export function say(io: Io, line: string): void {
  io.stderr.write(`${line}\n`);
}

/** Somebody can be asked: answers are typed, and the question is seen. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

export function hasColor(io: Io, stream: Terminal): boolean {
  return stream.isTTY === true && !io.env["NO_COLOR"] && io.env["TERM"] !== "dumb";
}

const BOLD = ["\u001B[1m", "\u001B[22m"] as const;

export function bold(text: string, isColored: boolean): string {
  return isColored ? `${BOLD[0]}${text}${BOLD[1]}` : text;
}
