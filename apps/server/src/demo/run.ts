/** The demo from its options to its end. */
import { standardOutput } from "../commands/output.ts";
import { untilStopped } from "../commands/serve.ts";
import { type Config, readConfig } from "../config.ts";
import type { ImportDocument } from "../import/document.ts";
import { readInventory } from "../import/read.ts";
import { createLog } from "../log.ts";
import { type Running, serve } from "../serve.ts";
import { tell } from "./story.ts";

const output = standardOutput();

export interface DemoOptions {
  readonly fleet: string;
  readonly once?: boolean;
}

/** Tells the story; resolves when the server it started has stopped. */
export async function demo({ fleet, once }: DemoOptions): Promise<void> {
  const config = readConfig();
  const document = await readInventory(fleet);
  output.data("Berth, from nothing");
  const running = await start(config);
  output.data(
    `PostgreSQL, schema and server up ${(performance.now() / 1_000).toFixed(2)} s after the start`,
  );
  try {
    await perform(running, document, config);
  } catch (error) {
    await running.stop();
    throw error;
  }
  if (once) return running.stop();
  output.data("Ctrl-C stops it; the database goes with it.");
  await untilStopped(running, output);
}

async function perform(running: Running, document: ImportDocument, config: Config): Promise<void> {
  const token = await tell({
    url: running.url,
    adminKey: running.adminKey ?? "",
    document,
    color: config.color,
    width: process.stdout.columns || 100,
    print: (line = "") => output.data(line),
  });
  output.data("");
  output.data(`The API is at ${running.url}, its description at ${running.url}/openapi.json`);
  output.data(`  fleet-admin key: ${running.adminKey}`);
  output.data(`  ${curl(running.url, token)}`);
}

/** On the usual port, or any free one when that is taken. */
async function start(config: Config): Promise<Running> {
  const log = createLog("silent");
  const options = { log, ephemeral: true };
  try {
    return await serve(config, options);
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!taken) throw error;
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
