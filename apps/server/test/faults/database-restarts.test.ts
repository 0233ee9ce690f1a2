/** F4 and F5: the whole database is killed or restarted under load. A cluster of its own, fsync on. */
import { type OwnCluster, ownCluster } from "@berth/db/testing";
import { expect, test } from "vitest";
import { type Work, acked, underWork, untilReady } from "./database-kit.ts";
import { faultRun } from "./kit.ts";

const KILLS = 5;
/** Of each kind. */
const RESTARTS = 3;
/** From the loss to the 503 of /readyz, which waits no longer for an answer, and from the database's return to its 200; milliseconds. */
const NOTICED_MS = 1_000;
const BACK_MS = 5_000;

test("the database killed with SIGKILL keeps what was acknowledged; the servers say so and come back by themselves", async () => {
  await faultRun("F4", KILLS, (run) =>
    withCluster((cluster) =>
      underWork({ run, database: cluster.database, watched: true }, async (work) => {
        const seen = await loseAndReturn(cluster, work, "SIGKILL");
        return `${seen.times} postmasters killed, 503 after ${seen.noticed} ms and 200 ${seen.back} ms after its return at most`;
      }),
    ),
  );
}, 600_000);

test("a fast and an immediate restart are UNAVAILABLE to callers and nothing else", async () => {
  await faultRun("F5", RESTARTS, (run) =>
    withCluster((cluster) =>
      underWork({ run, database: cluster.database }, async (work) => {
        const fast = await loseAndReturn(cluster, work, "SIGINT");
        const immediate = await loseAndReturn(cluster, work, "SIGQUIT");
        expect(work.load.count("unavailable")).toBeGreaterThan(0);
        const states = sqlStates(work);
        expect([...states].filter((state) => /^(57P0[1-3]|08006)$/.test(state))).not.toEqual([]);
        return (
          `${fast.times} fast and ${immediate.times} immediate restarts, ` +
          `back after ${Math.max(fast.back, immediate.back)} ms at most, ${[...states].join(" ")}`
        );
      }),
    ),
  );
}, 600_000);

async function withCluster(work: (cluster: OwnCluster) => Promise<string>): Promise<string> {
  const cluster = await ownCluster();
  try {
    return await work(cluster);
  } finally {
    await cluster.database.close();
  }
}

async function loseAndReturn(
  cluster: OwnCluster,
  { run, servers, load }: Work,
  signal: Parameters<OwnCluster["end"]>[0],
): Promise<{ times: number; noticed: number; back: number }> {
  const seen = { times: 0, noticed: 0, back: 0 };
  for (; seen.times < run.count; seen.times += 1) {
    await acked(load, 20);
    const before = cluster.pid();
    const noticing = Promise.all(servers.map((server) => untilReady(server, false)));
    await cluster.end(signal);
    const noticed = Math.max(...(await noticing));
    await cluster.start();
    expect(cluster.pid()).not.toBe(before);
    const back = Math.max(...(await Promise.all(servers.map((one) => untilReady(one, true)))));
    expect(noticed).toBeLessThan(NOTICED_MS);
    expect(back).toBeLessThan(BACK_MS);
    seen.noticed = Math.max(seen.noticed, Math.round(noticed));
    seen.back = Math.max(seen.back, Math.round(back));
  }
  return seen;
}

/** What the servers logged as the reason of an UNAVAILABLE. */
function sqlStates({ servers }: Work): ReadonlySet<string> {
  const found = servers.flatMap((server) =>
    [...server.stdout().matchAll(/"sqlState":"(\w+)"/g)].map(([, state = ""]) => state),
  );
  return new Set(found.toSorted());
}
