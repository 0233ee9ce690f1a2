/** One process's connections: reads, and the slots that write. */
import { type Client, createClient } from "./client.ts";
import { type Listening, listen } from "./listen.ts";
import { SlotPool } from "./slot-pool.ts";

export interface DatabaseOptions {
  /** Connections for reads. Default 8. */
  readonly connections?: number;
  /** Connections that write. Default 8. */
  readonly writers?: number;
  readonly applicationName?: string;
}

export interface Database {
  /** Raw reads; every query text is prepared once a connection. Int8 and numeric arrive as numbers. */
  readonly sql: Client;
  readonly slots: SlotPool;
  /** Hears the channel's notifications over one more connection; see `listen.ts`. */
  listen(channel: string, heard: (payload: string) => void): Listening;
  close(): Promise<void>;
}

/**
 * Seconds after which an idle connection for reads is closed, and milliseconds after which a silent one is
 * given up: only one that owes an answer lives to be that, and the server has ended the statement before.
 */
const IDLE_S = 8;
const SILENT_MS = 9_000;

/** Does not connect yet: the first query does. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { connections = 8, writers = 8, applicationName = "berth" } = options;
  const sql = createClient(url, {
    applicationName,
    max: connections,
    idle_timeout: IDLE_S,
    silentMs: SILENT_MS,
  });
  const slots = new SlotPool(url, { slots: writers, applicationName: `${applicationName}-write` });
  return {
    sql,
    slots,
    listen: (channel, heard) =>
      listen(url, { applicationName: `${applicationName}-listen`, channel, heard }),
    async close() {
      await Promise.all([sql.end({ timeout: 5 }), slots.end()]);
    },
  };
}
