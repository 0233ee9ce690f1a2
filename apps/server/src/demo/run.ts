/** The demo from its options to its end. */
import { AddressError } from "../address.ts";
import { standardOutput } from "../commands/output.ts";
import { untilStopped } from "../commands/serve.ts";
import { type Config, readConfig } from "../config.ts";
import type { ImportDocument } from "../import/document.ts";
import { readInventory } from "../import/read.ts";
import { createLog } from "../log.ts";
import { type Running, serve } from "../serve.ts";
import { type NotBuilt, buildConsole, consoleLine } from "./console.ts";
import { DEMO_VARIABLES } from "./plan.ts";
import { type Ending, tell } from "./story.ts";

const output = standardOutput();

export interface DemoOptions {
  readonly fleet: string;
  readonly once?: boolean;
}

/** Tells the story; resolves when the server it started has stopped. */
export async function demo({ fleet, once = false }: DemoOptions): Promise<void> {
  const config = readConfig(undefined, DEMO_VARIABLES);
  const [document, notBuilt] = await Promise.all([readInventory(fleet), buildConsole()]);
  output.data("Berth, from nothing");
  const running = await start(config);
  output.data(
    `PostgreSQL, schema and server up ${(performance.now() / 1_000).toFixed(2)} s after the start`,
  );
  try {
    const ending = await perform(running, document, config);
    output.data("");
    if (!once) for (const line of toTry(running, { ...ending, notBuilt })) output.data(line);
  } catch (error) {
    await running.stop();
    throw error;
  }
  if (once) {
    await running.stop();
    output.data(`The API was at ${running.url}; it is gone, and its database with it.`);
    output.data("Without --once it stays, with keys to try it with.");
    return;
  }
  await untilStopped(running, output);
}

function perform(running: Running, document: ImportDocument, config: Config): Promise<Ending> {
  return tell({
    url: running.url,
    adminKey: running.adminKey ?? "",
    document,
    color: config.color,
    width: process.stdout.columns || 100,
    print: (line = "") => output.data(line),
  });
}

/** What somebody at the terminal can do now, the README's example first. */
function* toTry(
  { url, adminKey }: Running,
  { notBuilt, poolId, token }: Ending & { readonly notBuilt: NotBuilt },
): Generator<string> {
  yield consoleLine(url, notBuilt);
  yield `The API is at ${url}, its description at ${url}/openapi.json`;
  yield `  fleet-admin key: ${adminKey}`;
  yield "  for the example of the README, as the tenant vision:";
  yield `    export BERTH_URL=${url}`;
  yield `    export BERTH_TOKEN=${token}`;
  if (poolId !== null) yield `    const poolId = "${poolId}";`;
  yield `  ${curl(url, token)}`;
  yield "Ctrl-C stops it; the database goes with it.";
}

/** On the port that was asked for; when none was, on the usual one, or any free one when that is taken. */
async function start(config: Config): Promise<Running> {
  const log = createLog("silent");
  const options = { log, ephemeral: true };
  try {
    return await serve(config, options);
  } catch (error) {
    const taken = error instanceof AddressError && error.code === "EADDRINUSE";
    if (!taken || config.portIsGiven) throw error;
    output.say(`port ${config.port} is taken; using a free one`);
    return serve({ ...config, port: 0 }, options);
  }
}

function curl(url: string, token: string): string {
  return (
    `curl -s ${url}/api/compute/capacity/summary -H 'authorization: Bearer ${token}' ` +
    `-H 'content-type: application/json' -d '{"tenantId":"vision"}'`
  );
}
