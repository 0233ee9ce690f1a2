/** What a command says when it fails, and its status. */
import { type BerthError, isBerthError } from "@berth/client";
import { EXIT, type Status } from "./exit.ts";
import { clean } from "./output/clean.ts";

export interface Failure {
  readonly status: Status;
  readonly lines: readonly string[];
}

const BY_CODE: Readonly<Record<string, Status>> = {
  INVALID_INPUT: EXIT.usage,
  CONFLICT: EXIT.usage,
  INVALID_STATE: EXIT.usage,
  TOO_LARGE: EXIT.usage,
  CURSOR_EXPIRED: EXIT.usage,
  BAD_ANSWER: EXIT.usage,
  NO_CAPACITY: EXIT.noRoom,
  QUOTA_EXCEEDED: EXIT.noRoom,
  UNAUTHENTICATED: EXIT.notYours,
  FORBIDDEN: EXIT.notYours,
  NOT_FOUND: EXIT.notYours,
  RATE_LIMITED: EXIT.unavailable,
  UNAVAILABLE: EXIT.unavailable,
  NETWORK: EXIT.unavailable,
  TIMEOUT: EXIT.unavailable,
};

const TRY: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: "berth login, with a token that is good",
  FORBIDDEN: "berth whoami shows your role; an administrator of the tenant can give another",
  NOT_FOUND: "look at the id, and at the tenant with berth whoami: --tenant chooses another",
  CONFLICT: "look at it again with berth show, then decide anew",
  INVALID_STATE: "berth show says what state it is in",
  QUOTA_EXCEEDED: "berth pools shows your quota; ask for less, or at another time",
  CURSOR_EXPIRED: "leave --after out to begin anew",
  RATE_LIMITED: "again in a minute",
  UNAVAILABLE: "again in a moment",
  NETWORK: "is the server running, and is its address right? berth login asks for it anew",
  TIMEOUT: "look whether it was done before you ask again",
};

/** Pages of codes that are the client's own, and so of no server: there are none. */
const OWN: ReadonlySet<string> = new Set([
  "NETWORK",
  "TIMEOUT",
  "BAD_ANSWER",
  "ABORTED",
  "HOLD_LOST",
]);

/** @param url the server's, for the address of the error's page */
export function failureOf(error: unknown, url: string | null): Failure {
  if (isBerthError(error))
    return { status: BY_CODE[error.code] ?? EXIT.bug, lines: linesOf(error, url) };
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { status: EXIT.bug, lines: [`a bug of this command line: ${said}`] };
}

/** Code and sentence, each fault, what to try, the request's id, and where to read more. */
function linesOf(error: BerthError, url: string | null): string[] {
  const lines = [`${error.code} ${clean(error.message)}`];
  const faults = error.issues ?? [];
  // Of a single one the sentence has told already.
  for (const { path, message } of faults.length > 1 ? faults : [])
    lines.push(`  ${clean(path.join("."))}: ${clean(message)}`);
  const hint = TRY[error.code];
  if (hint) lines.push(`  try      ${hint}`);
  if (error.requestId) lines.push(`  request  ${clean(error.requestId)}`);
  if (url && !OWN.has(error.code)) lines.push(`  docs     ${pageOf(error, url)}`);
  return lines;
}

/** As the server names its pages. */
function pageOf({ code }: BerthError, url: string): string {
  return `${url}/docs/errors/${code.toLowerCase().replaceAll("_", "-")}`;
}
