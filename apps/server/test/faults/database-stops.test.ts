/** F7: processes of the database stand still for a while, as on an overloaded or suspended machine. */
import { setTimeout as delay } from "node:timers/promises";
import { ownCluster } from "@berth/db/testing";
import { expect, test } from "vitest";
import { type Work, acked, underWork, untilAck } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const BACKENDS = 3;
const CLUSTERS = 2;
const BACKEND_MS = 2_000;
const CLUSTER_MS = 3_000;
/** From the end of the standstill to an answer. */
const RECOVERY_MS = 2_000;

test("a database that stands still is waited for within every call's limit, and used again at once", async () => {
  await faultRun("F7", 1, async (run) => {
    const cluster = await ownCluster();
    try {
      return await underWork({ run, database: cluster.database }, async (work) => {
        let slowest = 0;
        for (let n = 0; n < run.count * BACKENDS; n += 1) {
          await acked(work.load, 20);
          const pid = await writingBackend(work);
          slowest = Math.max(slowest, await stopped([pid], BACKEND_MS, work));
        }
        for (let n = 0; n < run.count * CLUSTERS; n += 1) {
          await acked(work.load, 20);
          slowest = Math.max(slowest, await stopped(cluster.processes(), CLUSTER_MS, work));
        }
        expect(slowest).toBeLessThan(RECOVERY_MS);
        return (
          `${run.count * BACKENDS} backends stopped for 2 s, the cluster ${run.count * CLUSTERS} times for 3 s, ` +
          `answers ${Math.round(slowest)} ms later at most`
        );
      });
    } finally {
      await cluster.database.close();
    }
  });
}, 600_000);

/** One that has just written or is about to. */
async function writingBackend({ database }: Work): Promise<number> {
  const [row] = await database.sql<{ pid: number }[]>`
    select pid from pg_stat_activity
     where datname = current_database() and application_name = 'berth-write'
     order by state = 'active' desc, query_start desc limit 1`;
  expect(row?.pid).toBeGreaterThan(0);
  return row?.pid ?? 0;
}

/** How long after their going on the first new call was answered. */
async function stopped(pids: readonly number[], ms: number, { load }: Work): Promise<number> {
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    await delay(ms);
  } finally {
    for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
  }
  return untilAck(load);
}
