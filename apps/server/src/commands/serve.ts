/** `berth serve`: one server until it is told to stop. */
import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { type Running, serve } from "../serve.ts";
import { EXIT } from "./exit.ts";
import type { Output } from "./output.ts";

/** Past this the process ends whatever still runs; the drain itself takes less. */
const STOP_MAX_MS = 29_000;

export async function serveUntilStopped(
  config: Config,
  output: Output,
  options: { readonly ephemeral?: boolean },
): Promise<void> {
  const log = createLog(config.logLevel);
  const running = await serve(config, { ...options, log, say: (line) => output.say(line) });
  output.say(`Berth listens on ${running.url}`);
  await untilStopped(running, output);
}

/** Resolves after SIGTERM or SIGINT and an orderly stop; a second signal ends the process at once. */
export async function untilStopped(running: Running, output: Output): Promise<void> {
  const { promise: asked, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1;
    if (signals > 1) process.exit(EXIT.bug);
    resolve(signal);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  await asked;
  output.say("finishing what runs; new calls are refused");
  setTimeout(() => process.exit(EXIT.ok), STOP_MAX_MS).unref();
  await running.stop();
  process.exit(EXIT.ok);
}
