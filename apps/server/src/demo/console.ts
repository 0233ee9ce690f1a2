/** The web console for the demo: built anew when its sources are others than those of the last build. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BUILD = fileURLToPath(new URL("../../../console/build.ts", import.meta.url));

/** A console that cannot be built is no reason to have no demo: the build has said why, and `/` says how. */
export async function buildConsole(): Promise<void> {
  const child = spawn(process.execPath, [BUILD], { stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "close").catch(() => undefined);
}
