/** A clock that runs, and leaps when a test says so. */
import type { TestDatabase } from "@berth/db/testing";

/** The product's clock runs as the database's own does, ahead of it by as much as is asked for. */
export async function shiftableClock({ sql }: TestDatabase) {
  await sql.unsafe(`
    create table berth.ahead (ms bigint not null);
    insert into berth.ahead values (0);
    create or replace function berth.now_ms() returns bigint language sql volatile parallel safe as
      'select (extract(epoch from clock_timestamp()) * 1000)::bigint + (select ms from berth.ahead)'`);
  return {
    /** Nobody was away meanwhile, however slow this machine is. */
    async advance(ms: number): Promise<void> {
      await sql`
        with turned as (update berth.ahead set ms = ms + ${ms})
        update clock set beat_at = (extract(epoch from clock_timestamp()) * 1000)::int8,
          beat_now = berth.now_ms() + ${ms}`;
    },
    async now(): Promise<number> {
      const [row] = await sql<{ now: number }[]>`select berth.now_ms() as now`;
      return row?.now ?? 0;
    },
  };
}
