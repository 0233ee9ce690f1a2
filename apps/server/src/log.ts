/** The process's log: JSON, a line an entry, on standard output. Keys and secrets never get this far. */
import { type Logger, pino } from "pino";
import type { Config } from "./config.ts";

export function createLog(level: Config["logLevel"]): Logger {
  return pino({
    level,
    base: null,
    // A belt beside the braces: nothing of ours logs headers or bodies.
    redact: ["authorization", "*.authorization", "token", "*.token", "secret", "*.secret"],
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}
