/** The packed client's calls, written down: see apps/server/test/client/recording. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { ROOT } from "../pack/command.ts";
import { inFolder } from "./stage.ts";

const RECORDER = path.join(ROOT, "apps/server/test/client/recording/record.ts");

export async function record(tarball: string): Promise<void> {
  await inFolder({ tarball }, {}, async (folder) => {
    const installed = path.join(folder, "node_modules/@berth/client");
    const child = spawn(process.execPath, [RECORDER, installed], { stdio: "inherit" });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) process.exitCode = 1;
  });
}
