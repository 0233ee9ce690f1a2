/** How a command ends: one line for the person, and an exit status for the script around it. */
import { isBerthError } from "@berth/client";
import { CommanderError } from "commander";
import { ConfigError } from "../config.ts";
import { ImportError } from "../import/document.ts";

export const EXIT = {
  ok: 0,
  bug: 1,
  usage: 2,
  noRoom: 3,
  notYours: 4,
  unavailable: 5,
} as const;

/** A command cannot do what was asked; the message is for the person who asked. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** What a command names is not there, or not for this key to see. */
export class NotThereError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotThereError";
  }
}

export interface Ending {
  readonly status: number;
  /** Null when everything was said already. */
  readonly line: string | null;
}

const BY_CODE: Readonly<Record<string, number>> = {
  INVALID_INPUT: EXIT.usage,
  CONFLICT: EXIT.usage,
  INVALID_STATE: EXIT.usage,
  TOO_LARGE: EXIT.usage,
  CURSOR_EXPIRED: EXIT.usage,
  NO_CAPACITY: EXIT.noRoom,
  QUOTA_EXCEEDED: EXIT.noRoom,
  UNAUTHENTICATED: EXIT.notYours,
  FORBIDDEN: EXIT.notYours,
  NOT_FOUND: EXIT.notYours,
  RATE_LIMITED: EXIT.unavailable,
  UNAVAILABLE: EXIT.unavailable,
  NETWORK: EXIT.unavailable,
  TIMEOUT: EXIT.unavailable,
  BAD_ANSWER: EXIT.usage,
};

/** Failures of a connection, by the names that Node and the driver give them. */
const UNREACHABLE = /^(ECONN|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EAI_AGAIN|CONNECT)/;
/** Errors whose message says all there is to say. */
const TOLD = new Set([
  "BootstrapError",
  "PolicyError",
  "FolderInUse",
  "MigrationError",
  "RoleError",
]);
/** The same of what may work later. */
const TOLD_UNAVAILABLE = new Set(["DatabaseUnavailable", "ConnectionLost", "UnknownOutcome"]);

export function endingOf(error: unknown): Ending {
  if (error instanceof CommanderError) {
    return { status: error.exitCode === 0 ? EXIT.ok : EXIT.usage, line: null };
  }
  if (error instanceof ConfigError || error instanceof ImportError || error instanceof UsageError) {
    return { status: EXIT.usage, line: error.message };
  }
  if (isBerthError(error)) {
    const quote = error.requestId ? ` (request ${error.requestId})` : "";
    return { status: BY_CODE[error.code] ?? EXIT.bug, line: `${error.message}${quote}` };
  }
  if (!(error instanceof Error)) return { status: EXIT.bug, line: String(error) };
  if (TOLD.has(error.name)) return { status: EXIT.usage, line: error.message };
  if (TOLD_UNAVAILABLE.has(error.name)) return { status: EXIT.unavailable, line: error.message };
  if (error instanceof NotThereError) return { status: EXIT.notYours, line: error.message };
  const code = codeOf(error);
  if (UNREACHABLE.test(code)) return { status: EXIT.unavailable, line: unreachable(error) };
  return { status: EXIT.bug, line: error.stack ?? error.message };
}

const unreachable = (error: Error) =>
  `cannot reach the database or server: ${error.message || codeOf(error)}`;

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
