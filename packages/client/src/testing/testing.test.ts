import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rejection } from "../../test/berth-on-wire.ts";
import { findBerth } from "./find-berth.ts";
import { withBerth } from "./index.ts";

const STUB = fileURLToPath(new URL("../../test/stub-berth.ts", import.meta.url));
const stub = (mode: string): string[] => [process.execPath, STUB, mode];

const env = { ...process.env };
const cwd = process.cwd();
let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "berth-testing-")));
});
afterEach(async () => {
  process.env = { ...env };
  process.chdir(cwd);
  await rm(folder, { recursive: true, force: true });
});

/** A program of that name which can be run. */
async function program(...parts: string[]): Promise<string> {
  const file = path.join(folder, ...parts);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, 0o755);
  return file;
}

describe("withBerth", () => {
  it("starts a server, says where it is and with which key, and stops it", async () => {
    const server = await withBerth({ command: stub("ready"), env: { STUB_TOKEN: "key" } });
    expect(server).toMatchObject({ url: "http://127.0.0.1:9", token: "key" });
    await server.stop();
    await server.stop();
    {
      await using other = await withBerth({ command: stub("ready") });
      expect(other.token).toBe("t");
    }
  });

  it.each([
    ["is killed", 'process.kill(process.pid, "SIGKILL");'],
    ["has nothing more to do", ""],
  ])("ends with this process, which %s: its standard input is ours", async (_how, last) => {
    const end = path.join(folder, "end");
    const module = new URL("./index.ts", import.meta.url).href;
    const options = { command: stub("stubborn"), env: { STUB_END: end } };
    const script = `
      const { withBerth } = await import(${JSON.stringify(module)});
      await withBerth(${JSON.stringify(options)});
      ${last}`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", script]);
    await once(parent, "close");
    await expect.poll(() => readFile(end, "utf8").catch(() => "")).toBe("its parent is gone");
  });

  it("says what a server that does not start had to say", async () => {
    const error = await rejection(withBerth({ command: stub("fails") }));
    expect(String(error)).toContain("serve --ephemeral ended at once (exit 3)");
    expect(String(error)).toContain("no disk is left");
    const late = await rejection(withBerth({ command: stub("silent"), timeoutMs: 1_500 }));
    expect(String(late)).toContain("was not ready after 1500 ms");
    const missing = await rejection(withBerth({ command: path.join(folder, "no-such") }));
    expect(String(missing)).toMatch(/could not be started|ended at once/);
  });
});

describe("the command", () => {
  it("is the one that is given, else the environment's, else the nearest installed one, else the PATH's", async () => {
    const installed = await program("app", "node_modules", ".bin", "berth");
    const onPath = await program("bin", "berth");
    await mkdir(path.join(folder, "app", "deep"));
    process.env["PATH"] = `${path.join(folder, "none")}${path.delimiter}${path.dirname(onPath)}`;
    process.env["BERTH_COMMAND"] = "node  berth.js";
    process.chdir(path.join(folder, "app", "deep"));
    expect(await findBerth("node main.js")).toMatchObject({ file: "node", args: ["main.js"] });
    expect(await findBerth(undefined)).toMatchObject({ file: "node", args: ["berth.js"] });
    delete process.env["BERTH_COMMAND"];
    expect(await findBerth(undefined)).toMatchObject({ file: installed, args: [] });
    process.chdir(folder);
    expect(await findBerth(undefined)).toMatchObject({ file: onPath, args: [] });
  });

  it("that is nowhere is an error that says what to do", async () => {
    process.env["PATH"] = path.join(folder, "none");
    delete process.env["BERTH_COMMAND"];
    process.chdir(folder);
    const error = String(await rejection(withBerth()));
    for (const part of [
      "a clone of Berth's repository",
      "npm's package `berth` is somebody else's",
      "apps/cli/bin/berth.js",
      "node_modules/.bin",
      "BERTH_COMMAND",
      "withBerth({ command })",
      "serve --ephemeral",
    ])
      expect(error).toContain(part);
  });
});
