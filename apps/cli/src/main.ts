/** The process: its arguments, streams and environment, and the status that it ends with. */
import { EXIT } from "./exit.ts";
import type { Io } from "./io.ts";
import { version } from "./version.ts";

export async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const { stdin, stdout, stderr } = process;
  // A reader that has gone, as behind `| head -1`, is no fault of ours.
  for (const stream of [stdout, stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  if (args[0] === "--version" || args[0] === "-V") {
    stdout.write(`${version()}\n`);
    process.exitCode = EXIT.ok;
    return;
  }
  const io: Io = { stdin, stdout, stderr, env: process.env, now: Date.now };
  const { run } = await import("./run.ts");
  process.exitCode = await run(args, io);
}
