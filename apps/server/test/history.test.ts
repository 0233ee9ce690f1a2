/**
 * Calls of every kind on two servers that are killed amid it: what the callers saw and what the database
 * wrote is one order, and a history that is falsified in any way is found out. The command that makes
 * 20,000 calls elsewhere, as it is.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";

const HISTORY = fileURLToPath(
  new URL("../../../packages/tools/src/history/main.ts", import.meta.url),
);
const OPERATIONS = process.env["BERTH_HISTORY_OPERATIONS"] ?? "1500";
const KILLS = 3;

let out = "";
let status: number | null = null;

beforeAll(async () => {
  const plan = ["--operations", OPERATIONS, "--kills", String(KILLS), "--corrupt"];
  const child = spawn(process.execPath, [HISTORY, ...plan], { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (out += text));
  [status] = (await once(child, "close")) as [number | null];
  process.stdout.write(`${out.match(/^history: .*/m)?.[0] ?? out}\n`);
}, 600_000);

it("every answer, event and row of a run with killed servers is of one order, pool by pool", () => {
  expect(out.match(/^FAULT .*/gm) ?? []).toEqual([]);
  expect(out).toMatch(/: clean, seed \d+$/m);
});

it("the servers were killed, and answers, reads, refusals and streams were checked", () => {
  const found = /^history: .*$/m.exec(out)?.[0] ?? "";
  expect(found).toContain(`${KILLS} servers killed`);
  const counts = /checked (\d+) answers, (\d+) reads, (\d+) refusals, (\d+) events watched/.exec(
    found,
  );
  expect(
    counts
      ?.slice(1)
      .map(Number)
      .every((count) => count > 0),
  ).toBe(true);
});

it("each way to falsify the history is caught by name", () => {
  expect(out.match(/^(MISSED|NOT DONE) .*/gm) ?? []).toEqual([]);
  expect(out.match(/^caught .*/gm)?.length).toBeGreaterThanOrEqual(20);
  expect(status).toBe(0);
});
