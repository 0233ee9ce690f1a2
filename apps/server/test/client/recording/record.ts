/**
 * `record.ts FOLDER`: runs the script with the client that is installed in FOLDER against a server of its own, and writes
 * what it sent and was answered into packages/client/test/recorded/VERSION.json. `pnpm consumers --record` packs,
 * installs and calls this.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createBerth } from "@berth/client";
import { withBerth } from "@berth/client/testing";
import { createRecorder } from "./recorder.ts";
import { type Client, script } from "./script.ts";

const SERVER = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const RECORDED = new URL("../../../../../packages/client/test/recorded/", import.meta.url);

async function main(folder: string): Promise<void> {
  const manifest = await readFile(join(folder, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const client = (await import(pathToFileURL(join(folder, "dist/index.js")).href)) as Client;
  await using server = await withBerth({ command: [process.execPath, SERVER] });
  const recorder = createRecorder(server.token);
  await script(client, { url: server.url, token: server.token, fetch: recorder.fetch });
  const calls = await recorder.calls();
  const called = new Set(calls.flatMap(({ path }) => namesIn(path)));
  const unheard = methods().filter((name) => !called.has(name));
  if (unheard.length > 0) throw new Error(`the script calls everything but ${unheard.join(", ")}`);
  const file = new URL(`${version}.json`, RECORDED);
  // A call a line: what changed can be read.
  const lines = calls.map((call) => JSON.stringify(call)).join(",\n");
  await writeFile(file, `{"version":${JSON.stringify(version)},"calls":[\n${lines}\n]}\n`);
  process.stdout.write(
    `${calls.length} requests, ${called.size} methods: ${fileURLToPath(file)}\n`,
  );
}

/** Methods in one request. */
const namesIn = (path: string) => path.replace(/^\/trpc\/|\?.*$/g, "").split(",");

/** Every method of the API. */
function methods(): string[] {
  const groups = Object.entries(createBerth({ url: "http://localhost" }));
  return groups.flatMap(([group, made]) =>
    typeof made === "object" ? Object.keys(made as object).map((name) => `${group}.${name}`) : [],
  );
}

await main(process.argv[2] ?? "");
