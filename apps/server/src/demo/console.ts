/** The web console for the demo: built anew when its sources are others than those of the last build. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { CONSOLE_FOLDER } from "../http/console.ts";

const BUILD = fileURLToPath(new URL("../../../console/build.ts", import.meta.url));

/** Why it was not built, in one line; null: it is there as its sources are. */
export type NotBuilt = string | null;

/**
 * A console that cannot be built is no reason to have no demo: what the build says goes to standard error, and why it
 * failed is answered.
 */
export async function buildConsole(build = BUILD): Promise<NotBuilt> {
  const child = spawn(process.execPath, [build], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    process.stderr.write(text);
    said += text;
  });
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return code === 0 ? null : reasonIn(said, signal ?? `exit ${code}`);
  } catch (error) {
    return (error as Error).message;
  }
}

const LINE_MAX = 160;

/** The line that names the error, without its colours; where none does, how the build ended. */
function reasonIn(said: string, ending: string): string {
  const lines = stripVTControlCharacters(said).split("\n");
  const line = lines.find((each) => /\berror\b/i.test(each) && each.includes(":"))?.trim();
  return (line ?? ending).slice(0, LINE_MAX);
}

/** What is said of the console at the end. */
export function consoleLine(
  url: string,
  why: NotBuilt,
  isThere = existsSync(join(CONSOLE_FOLDER, "index.html")),
): string {
  const keys =
    "asks for a key: begin with the tenant vision's, to book; the fleet-admin's, both below, runs the machines under Fleet";
  if (why === null) return `The console is at ${url}/ and ${keys}`;
  const rest = isThere ? `; an older one is at ${url}/ and ${keys}` : "";
  return `The console was not built (${why})${rest}; pnpm console:build tries it again`;
}
