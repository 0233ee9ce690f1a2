/** The shell blocks of a page: each in a shell of its own, with the folder and the variables of the one before. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { BERTH, type DemoServer } from "./servers.ts";

export interface Shell {
  run(code: string): Promise<{ readonly status: number; readonly printed: string }>;
}

/** A block that waits for something that never comes. */
const BLOCK_MS = 60_000;

/** @param folder an empty one: files that the blocks write are kept there */
export async function openShell(folder: string, server: DemoServer): Promise<Shell> {
  const bin = path.join(folder, ".bin");
  const kept = path.join(folder, ".variables");
  await mkdir(bin, { recursive: true });
  await symlink(BERTH, path.join(bin, "berth"));
  const env = {
    HOME: process.env["HOME"],
    PATH: [bin, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
    TZ: "UTC",
    LC_ALL: "C.UTF-8",
    XDG_CONFIG_HOME: path.join(folder, ".config"),
    XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"],
    BERTH_URL: server.url,
    BERTH_TOKEN: server.token,
    ADMIN_TOKEN: server.adminToken,
    POOL: server.poolId,
  };
  return {
    async run(code) {
      const before = existsSync(kept) ? `. ${JSON.stringify(kept)}\n` : "";
      const keep = `trap 'status=$?; export -p > ${JSON.stringify(kept)}; exit $status' EXIT\n`;
      const script = `${keep}set -aeu\n${before}${code.replaceAll("http://127.0.0.1:8787", server.url)}\n`;
      const child = spawn("sh", ["-c", `exec 2>&1\n${script}`], {
        cwd: folder,
        env,
        stdio: ["ignore", "pipe", "inherit"],
        timeout: BLOCK_MS,
      });
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const [status] = (await once(child, "close")) as [number | null];
      return { status: status ?? -1, printed };
    },
  };
}
