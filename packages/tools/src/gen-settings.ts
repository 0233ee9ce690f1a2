/**
 * The server's settings: apps/docs/reference/settings.md. No room may import an app, so the server's own
 * command writes the page.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Generated } from "./generate.ts";

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, "../../../apps/server/src/main.ts");

export async function generateSettings(): Promise<Generated> {
  const { stdout } = await run(process.execPath, [MAIN, "settings"]);
  return { path: "apps/docs/reference/settings.md", text: stdout };
}
