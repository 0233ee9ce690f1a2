/** The demo's console: built, or said not to be, and why. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildConsole, consoleLine } from "../src/demo/console.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "demo-console-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function build(script: string): Promise<string | null> {
  const file = join(folder, "build.mjs");
  await writeFile(file, script);
  return buildConsole(file);
}

it("answers why a build failed, and nothing of one that did not", async () => {
  expect(await build("process.stderr.write('Building the web console…')")).toBeNull();
  expect(await build("console.error('Building'); throw new Error('no vite here')")).toBe(
    "Error: no vite here",
  );
  expect(await build("process.exit(3)")).toBe("exit 3");
});

it("says at the end that there is no console, or an older one, instead of leading to it", () => {
  const url = "http://127.0.0.1:1";
  expect(consoleLine(url, null)).toMatch(/^The console is at http:\/\/127\.0\.0\.1:1\/ and asks/);
  const none = consoleLine(url, "Error: no vite here", false);
  expect(none).toBe(
    "The console was not built (Error: no vite here); pnpm console:build tries it again",
  );
  expect(consoleLine(url, "exit 3", true)).toContain("an older one is at http://127.0.0.1:1/");
});
