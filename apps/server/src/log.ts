/** The process's log: JSON, a line an entry, on standard output. Keys and secrets never get this far. */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type DestinationStream, type Logger, pino } from "pino";
import type { Config } from "./config.ts";

/** Characters held for a reader that does not keep up; what comes beyond is dropped, the server goes on. */
const HELD_MAX = 8 * 1_048_576;
/** How long the end of the process waits for the reader. */
const CLOSE_MS = 1_000;

let output: ReturnType<typeof pino.destination> | null = null;

/** Standard output is opened once a process; lines go elsewhere where the caller takes them itself. */
export function createLog(level: Config["logLevel"], elsewhere?: DestinationStream): Logger {
  const to = elsewhere ?? (output ??= openOutput());
  const options = {
    level,
    base: null,
    // A belt beside the braces: nothing of ours logs headers or bodies.
    redact: ["authorization", "*.authorization", "token", "*.token", "secret", "*.secret"],
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return pino(options, to);
}

/**
 * Written in the background. Pino would write the rest when the process exits, and try for ever when nobody
 * reads: an exit that never ends. So at exit it writes nothing; `closeLog` does, before.
 */
function openOutput(): ReturnType<typeof pino.destination> {
  const opened = pino.destination({ dest: 1, sync: false, maxLength: HELD_MAX });
  opened.flushSync = () => undefined;
  return opened;
}

/** Writes what is held, for a reader that still reads; nothing is logged afterwards. */
export async function closeLog(): Promise<void> {
  if (output === null) return;
  const closed = once(output, "close");
  output.end();
  await Promise.race([closed, delay(CLOSE_MS)]);
  output.write = () => true;
}
