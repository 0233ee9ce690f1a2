/** Every block of the guides, run as a reader would; and a page that says something else than what happens. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** All pages are some fifty calls of the command line; a busy machine takes its time for them. */
const RUN_MS = 600_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-pages-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(...pages: string[]): Promise<Ended> {
  const program = at("./main.ts");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "run", ...pages],
      { timeout: RUN_MS },
      (error, out, err) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, out, err });
      },
    );
  });
}

/** A page beside the real ones. */
async function copy(name: string, change: (text: string) => string): Promise<string> {
  const text = await readFile(at(`../../../../apps/docs/how-to/${name}.md`), "utf8");
  const changed = change(text);
  expect(changed).not.toBe(text);
  const file = join(folder, `${name}.md`);
  await writeFile(file, changed);
  return file;
}

it(
  "every block of the tutorial, the guides, the READMEs and the skill runs and prints what the page says",
  async () => {
    const { code, out, err } = await run();
    expect(err.replaceAll(/^\(.*\n/gm, "")).toBe("");
    expect(code).toBe(0);
    const [, blocks, outputs] = /^(\d+) blocks .* (\d+) outputs compared/m.exec(out) ?? [];
    process.stdout.write(out);
    expect(Number(blocks)).toBeGreaterThanOrEqual(75);
    expect(Number(outputs)).toBeGreaterThanOrEqual(45);
  },
  RUN_MS,
);

describe("a page fails", () => {
  it(
    "whose block prints something else than it says, whose code is wrong or whose types are, or that says less than one needs",
    async () => {
      const said = await copy("offer-a-pool", (text) => text.replace("gpu 0 of 16", "gpu 0 of 17"));
      const thrown = await copy("wait-for-room", (text) =>
        text.replace("const key =", "throw new Error('no'); const key ="),
      );
      const typed = await copy("extend-a-booking", (text) =>
        text.replace("dryRun: true", "dryRunning: true"),
      );
      const silent = await copy("book-on-one-rack", (text) =>
        text.replace(/^> - `poolId`.*\n/m, ""),
      );
      const { code, err } = await run(said, thrown, typed, silent);
      expect(code).toBe(1);
      expect(err).toMatch(
        /offer-a-pool\.md:\d+: line 1 of what it prints\n {2}page +false gpu 0 of 17\n {2}printed +false gpu 0 of 16\n/,
      );
      expect(err).toMatch(/wait-for-room\.md:\d+: Error: no/);
      expect(err).toContain("'dryRunning' does not exist");
      expect(err).toMatch(/book-on-one-rack\.md:\d+: no reader sees what poolId is: say/);
    },
    RUN_MS,
  );
});
