import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { pool, startServer } from "./harness.ts";

const run = promisify(execFile);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The README's TypeScript block as a program: its server and pool put in, nothing else changed. */
async function example(url: string): Promise<string> {
  const readme = await readFile(at("../../../README.md"), "utf8");
  const block = /```ts\n(?<code>[\s\S]*?)```/.exec(readme)?.groups?.["code"];
  if (block === undefined) throw new Error("the README has a TypeScript block");
  expect(block).toContain("http://127.0.0.1:8787");
  return block.replace("http://127.0.0.1:8787", url);
}

test("the README's client example books, renews and releases as it stands", async () => {
  const server = await startServer();
  // Beside the other tests, so that it finds the client as any app of the house does.
  const folder = await mkdtemp(at("./readme-"));
  try {
    await server.fleet(pool(1, 8, { offers: { vision: { gpu: 8 } } }));
    const file = join(folder, "example.ts");
    await writeFile(file, await example(server.url));
    const { stdout, stderr } = await run(process.execPath, [file], {
      env: { PATH: process.env["PATH"], BERTH_TOKEN: await server.token("vision") },
    });
    expect(stderr).toBe("");
    expect(stdout.match(/GPU-/g)).toHaveLength(8);
    const berth = await server.as("vision");
    const { reservations } = await berth.reservations.list({ tenantId: "vision" });
    expect(reservations).toMatchObject([{ state: "released", leaseSeconds: 60 }]);
    await server.expectHealthy();
  } finally {
    await rm(folder, { recursive: true });
    await server.stop();
  }
});
