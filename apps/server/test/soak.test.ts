/** A minute of everything at once: the command that runs for ten minutes elsewhere, as it is. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOAK = fileURLToPath(new URL("../../../packages/tools/src/soak/main.ts", import.meta.url));

it("two servers under eight writers of every kind keep their books, and every watcher sees all of it", async () => {
  const seed = String(Date.now() % 1_000_000);
  const child = spawn(process.execPath, [SOAK, "--seconds", "60", "--seed", seed], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code] = (await once(child, "close")) as [number | null];
  process.stdout.write(out);
  expect(out.match(/^FAULT .*/gm) ?? []).toEqual([]);
  expect(out).toContain("rebuild: corrected nothing");
  expect(out).toMatch(/ events watched over \d+ cuts/);
  expect(code).toBe(0);
}, 240_000);
