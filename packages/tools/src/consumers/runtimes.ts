/** Runtimes beside Node: Bun and Deno as they are, and an edge runtime by its limits. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { bin, command, demand } from "../pack/command.ts";
import { wrapped } from "./programs.ts";
import { type Consumer, expectWorked, inFolder, lineOf, pinned } from "./stage.ts";

export const BUN: Consumer = {
  name: "Bun",
  async run(stage) {
    const bun = await wrapped("bun", "@oven", "bin/bun");
    return inFolder(stage, { apps: ["esm.mjs", "work.mjs"] }, async (folder) => ({
      versions: `bun ${bun.version}`,
      ran: expectWorked(await lineOf(stage, { folder }, [bun.file, "run", "esm.mjs"])),
    }));
  },
};

export const DENO: Consumer = {
  name: "Deno",
  async run(stage) {
    const deno = await wrapped("deno", "@deno", "deno");
    const host = new URL(stage.url).host;
    const flags = [
      "--no-prompt",
      "--node-modules-dir=manual",
      `--allow-net=${host}`,
      "--allow-env=BERTH_URL,BERTH_TOKEN",
    ];
    return inFolder(stage, { apps: ["esm.mjs", "work.mjs"] }, async (folder) => {
      const env = { DENO_DIR: path.join(folder, ".deno"), DENO_NO_UPDATE_CHECK: "1" };
      const line = await lineOf(stage, { folder, env }, [deno.file, "run", ...flags, "esm.mjs"]);
      return {
        versions: deno.version.split(" (")[0] ?? "",
        ran: `${expectWorked(line)}; may reach the server and read two variables, no more`,
      };
    });
  },
};

/** One script without a module of Node's, run where there is nothing but what the web has. */
export const EDGE: Consumer = {
  name: "Edge bundle",
  async run(stage) {
    const apps = ["edge.mjs", "edge-runtime.mjs", "work.mjs"];
    return inFolder(stage, { apps }, async (folder) => {
      const flags = ["--bundle", "--format=iife", "--platform=neutral", "--conditions=worker"];
      const more = ["--main-fields=module,main", "--outfile=bundle.js"];
      await command(folder, bin("esbuild"), ["edge.mjs", ...flags, ...more, "--log-level=error"]);
      const bundle = await readFile(path.join(folder, "bundle.js"), "utf8");
      const hit = /["']node:|\brequire\(/.exec(bundle);
      demand(hit === null, `the bundle holds ${hit?.[0]}`);
      const line = await lineOf(stage, { folder }, [
        process.execPath,
        "edge-runtime.mjs",
        "bundle.js",
      ]);
      return {
        versions: (await pinned("packages/client", "esbuild")).replace("@", " "),
        ran: `${expectWorked(line)}; ${(bundle.length / 1_000).toFixed(0)} kB, no Node built-in, no eval`,
      };
    });
  },
};
