/** A store on a database of its own, its clock stopped: where the tests of this folder begin. */
import { type Database, openDatabase } from "../database.ts";
import { T0 } from "../testing/fixtures.ts";
import {
  type ManualClock,
  type TestDatabase,
  manualClock,
  testDatabase,
} from "../testing/index.ts";
import { createPoolStore } from "./pool-store.ts";
import type { PoolStore } from "./types.ts";

export interface StoreRoom {
  readonly database: TestDatabase;
  /** At `T0`. */
  readonly clock: ManualClock;
  readonly db: Database;
  readonly store: PoolStore;
  close(): Promise<void>;
}

/** @param writers connections that write */
export async function openRoom(writers: number): Promise<StoreRoom> {
  const database = await testDatabase();
  const clock = await manualClock(database.url, T0);
  const db = openDatabase(database.url, { connections: 2, writers });
  return {
    database,
    clock,
    db,
    store: createPoolStore(db),
    async close() {
      await db.close();
      await clock.close();
      await database.close();
    },
  };
}
