/** `berth serve`: one server until it is told to stop. */
import type { Config } from "../config.ts";
import { keepHeapSmall } from "../heap.ts";
import { closeLog, createLog } from "../log.ts";
import { type Running, serve } from "../serve.ts";
import { EXIT } from "./exit.ts";
import type { Output } from "./output.ts";

/**
 * Past this the process ends, whatever still runs: half a minute is what an operator's tool gives. The drain
 * itself takes less; what can take longer is a database that no longer answers.
 */
const STOP_MAX_MS = 28_000;

export async function serveUntilStopped(config: Config, output: Output): Promise<void> {
  keepHeapSmall();
  const log = createLog(config.logLevel);
  const running = await serve(config, { log, say: (line) => output.say(line) });
  output.say(`Berth listens on ${running.url}`);
  await untilStopped(running, output);
}

/**
 * Ends the process after SIGTERM or SIGINT: with status 0 after an orderly stop, else with one that says
 * unavailable and a line that says why; on a second signal at once.
 * @param also when it resolves the server stops as after a signal
 */
export async function untilStopped(
  running: Running,
  output: Output,
  also?: Promise<void>,
): Promise<void> {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    if (signals > 1) process.exit(EXIT.bug);
    // Set before anything else is tried, so that nothing can keep it from running.
    setTimeout(() => void end(output, "it took too long"), STOP_MAX_MS).unref();
    resolve();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  void also?.then(onSignal);
  await asked;
  output.say("finishing what runs; new calls are refused");
  const disorder = await running.stop().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await end(output, disorder);
}

async function end(output: Output, disorder: string | null): Promise<void> {
  if (disorder !== null)
    output.say(`stopped in disorder (${disorder}); what was acknowledged is kept`);
  await closeLog();
  process.exit(disorder === null ? EXIT.ok : EXIT.unavailable);
}
