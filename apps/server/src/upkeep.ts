/** What a server does now and then beside answering: old events are forgotten. */
import { pruneEvents } from "@berth/api";
import type { Database } from "@berth/db";
import type { Logger } from "pino";

const HOUR_MS = 3_600_000;

/** Starts it; the answer stops it, after what is running. */
export function startUpkeep(database: Database, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const prune = async () => {
    try {
      const gone = await pruneEvents(database);
      if (gone > 0) log.info({ gone }, "events past retention were forgotten");
    } catch (error) {
      // The driver's error holds parameters; its name is enough, the next hour tries again.
      log.warn(
        { cause: error instanceof Error ? error.name : "unknown" },
        "events were not pruned",
      );
    }
  };
  const timer = setInterval(() => {
    running = prune();
  }, HOUR_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
