/** What the servers and the database did during a stretch of load, beside how fast it was. */
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "@berth/db";
import type { System } from "./servers.ts";

export interface Vitals {
  /** Commands that shared a batch, on average. */
  readonly batch: number;
  /** Batches planned in vain, because another server wrote first, a hundred written. */
  readonly lostPerHundred: number;
  /** Milliseconds waited for a pool's lock, in all: 0 unless a pool is planned under it. */
  readonly lockWaitMs: number;
  /** The worst server's loop, milliseconds between two turns, the 10 ms of its own clock included. */
  readonly loopP99: number;
  /** Transactions that PostgreSQL committed; a statement by itself is one. */
  readonly transactions: number;
  /** Written to PostgreSQL's log. */
  readonly walBytes: number;
  /** Seconds of processor time of all servers. */
  readonly serverCpu: number;
  /** MiB of the largest server at the end. */
  readonly rss: number;
}

/** A backend tells its counts a second after its last statement, at the latest. */
const TOLD_MS = 1_200;
const MIB = 1_048_576;

type Metrics = readonly ReadonlyMap<string, number>[];

export async function beside<T>(
  system: System,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly vitals: Vitals }> {
  const database = openDatabase(system.databaseUrl, { connections: 1, writers: 1 });
  const counts = async (): Promise<{ transactions: number; wal: number }> => {
    const [row] = await database.sql<{ transactions: number; wal: number }[]>`
      select xact_commit as transactions, pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal
      from pg_stat_database where datname = current_database()`;
    return { transactions: Number(row?.transactions), wal: Number(row?.wal) };
  };
  try {
    await delay(TOLD_MS);
    const [metricsBefore, before] = [await look(system), await counts()];
    const result = await work();
    const [metricsAfter, { wal }] = [await look(system), await counts()];
    await delay(TOLD_MS);
    const { transactions } = await counts();
    const vitals = {
      ...ofServers(metricsBefore, metricsAfter),
      transactions: transactions - before.transactions,
      walBytes: wal - before.wal,
    };
    return { result, vitals };
  } finally {
    await database.close();
  }
}

function ofServers(before: Metrics, after: Metrics): Omit<Vitals, "transactions" | "walBytes"> {
  const grown = (name: string): number =>
    after.reduce((sum, now, i) => sum + (now.get(name) ?? 0) - (before[i]?.get(name) ?? 0), 0);
  const most = (name: string): number => Math.max(...after.map((now) => now.get(name) ?? 0));
  const batches = grown("berth_batch_size_count");
  return {
    batch: batches > 0 ? grown("berth_batch_size_sum") / batches : 0,
    lostPerHundred: batches > 0 ? (100 * grown("berth_gate_lost_total")) / batches : 0,
    lockWaitMs: grown("berth_lock_wait_seconds_sum") * 1_000,
    loopP99: most("nodejs_eventloop_lag_p99_seconds") * 1_000,
    serverCpu: grown("process_cpu_seconds_total"),
    rss: most("process_resident_memory_bytes") / MIB,
  };
}

function look({ metrics, urls }: System): Promise<Metrics> {
  return Promise.all(urls.map((_, server) => metrics(server)));
}
