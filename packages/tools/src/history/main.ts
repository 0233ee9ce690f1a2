/**
 * `pnpm history [--operations N] [--kills K] [--seed S]`: calls of every kind on two servers and one
 * PostgreSQL, servers killed amid it, and the history of it all checked for strict serialisability. Exits
 * 1 when something does not hold; the history is then kept, and `pnpm history --check FILE` checks it
 * again. With `--corrupt` the history is falsified in every way that the checker has to notice.
 */
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startSystem } from "../bench/servers.ts";
import { soak } from "../soak/run.ts";
import { checkHistory } from "./checker.ts";
import { CORRUPTIONS } from "./corruptions.ts";
import { readHistory, writeHistory } from "./file.ts";
import type { History } from "./types.ts";

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "20000" },
    kills: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    servers: { type: "string", default: "2" },
    writers: { type: "string", default: "12" },
    check: { type: "string" },
    corrupt: { type: "boolean", default: false },
    keep: { type: "string" },
  },
});

process.exitCode = values.check === undefined ? await run() : await again(values.check);

async function run(): Promise<number> {
  const system = await startSystem();
  try {
    for (let i = 0; i < Number(values.servers); i += 1) await system.addServer();
    const plan = {
      ms: Infinity,
      operations: Number(values.operations),
      seed: Number(values.seed),
      writers: Number(values.writers),
      kills: Number(values.kills),
      stretchMs: Infinity,
      memory: false,
      kept: Infinity,
    };
    const { faults, history } = await soak(system, plan, (line) => console.log(line));
    for (const fault of faults) console.log(`FAULT ${fault}`);
    if (faults.length > 0 || values.keep !== undefined) await keep(history);
    if (faults.length > 0) {
      console.log(`again: pnpm history ${process.argv.slice(2).join(" ")} --seed ${values.seed}`);
      return 1;
    }
    return values.corrupt ? corrupt(history) : 0;
  } finally {
    await system.stop();
  }
}

async function keep(history: History): Promise<void> {
  const file = values.keep ?? path.join(tmpdir(), `berth-history-${values.seed}.jsonl`);
  await writeHistory(file, history);
  console.log(`the history is in ${file}`);
}

async function again(file: string): Promise<number> {
  const history = await readHistory(file);
  const { faults, figures } = checkHistory(history);
  for (const { code, message } of faults) console.log(`FAULT ${code} ${message}`);
  console.log(`${figures.operations} operations: ${faults.length === 0 ? "clean" : "not clean"}`);
  if (faults.length > 0) return 1;
  return values.corrupt ? corrupt(history) : 0;
}

function corrupt(history: History): number {
  let missed = 0;
  for (const { name, expect, apply } of CORRUPTIONS) {
    const falsified = structuredClone(history);
    const done = apply(falsified);
    const codes = new Set(done ? checkHistory(falsified).faults.map(({ code }) => code) : []);
    const caught = expect.some((code) => codes.has(code));
    if (!caught) missed += 1;
    const verdict = caught ? "caught" : done ? "MISSED" : "NOT DONE";
    console.log(`${verdict} ${name}: ${[...codes].join(", ")}`);
  }
  return missed === 0 ? 0 : 1;
}
