/** How a command ends. */

/** What a script may rely on. */
export const EXIT = {
  ok: 0,
  bug: 1,
  usage: 2,
  noRoom: 3,
  notYours: 4,
  unavailable: 5,
} as const;

export type Status = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command before its work is done; the lines are for the one who ran it. */
export class Quit extends Error {
  readonly status: Status;
  readonly lines: readonly string[];

  constructor(status: Status, ...lines: readonly string[]) {
    super(lines[0]);
    this.name = "Quit";
    this.status = status;
    this.lines = lines;
  }
}

/** What was asked for cannot be understood, or may not be done this way. */
export const usage = (...lines: readonly string[]): Quit => new Quit(EXIT.usage, ...lines);
