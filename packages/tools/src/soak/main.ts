/**
 * `pnpm soak --minutes N [--seed S]`: everything at once on two real servers and one PostgreSQL, then the
 * books are examined: history strictly serialisable, every watcher's stream equal to the log, doctor
 * clean, a rebuild that corrects nothing, no call answered INTERNAL, memory that does not grow. Exits 1
 * when any of it does not hold.
 */
import { parseArgs } from "node:util";
import { startSystem } from "../bench/servers.ts";
import { soak } from "./run.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seconds: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    servers: { type: "string", default: "2" },
    writers: { type: "string", default: "8" },
  },
});

/** An hour's history does not fit in memory: it is checked by the minute, and the last ones are kept. */
const STRETCH_MS = 30_000;

const ms = values.seconds ? Number(values.seconds) * 1_000 : Number(values.minutes) * 60_000;
const system = await startSystem();
try {
  for (let i = 0; i < Number(values.servers); i += 1) await system.addServer();
  const plan = {
    ms,
    operations: Infinity,
    seed: Number(values.seed),
    writers: Number(values.writers),
    kills: 0,
    stretchMs: STRETCH_MS,
    memory: true,
    kept: 2,
  };
  const { faults } = await soak(system, plan, (line) => console.log(line));
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(faults.length === 0 ? "the soak found nothing" : `${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await system.stop();
}
