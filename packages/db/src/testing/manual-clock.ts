/** A database whose clock a test turns by hand. */
import { createClient } from "../client.ts";

export interface ManualClock {
  set(ms: number): Promise<void>;
  advance(ms: number): Promise<void>;
  now(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Replaces `berth.now_ms()` of this database for every connection.
 * @param start milliseconds since the epoch; default: the present
 */
export async function manualClock(url: string, start: number = Date.now()): Promise<ManualClock> {
  const client = createClient(url, { applicationName: "test-clock", max: 1 });
  await client.unsafe(`
    create table if not exists berth.manual_clock (now bigint not null);
    delete from berth.manual_clock;
    insert into berth.manual_clock values (${String(Math.trunc(start))});
    create or replace function berth.now_ms() returns bigint language sql volatile parallel safe as
      'select now from berth.manual_clock'`);
  // Whoever turns the clock is there: otherwise a server that stutters meanwhile would find an outage.
  const turn = async (now: string, ms: number): Promise<void> => {
    await client.unsafe(
      `with turned as (update berth.manual_clock set now = ${now} returning now)
      update clock set beat_now = turned.now,
        beat_at = (extract(epoch from clock_timestamp()) * 1000)::int8
      from turned where beat_at is not null`,
      [ms],
    );
  };
  return {
    set: (ms) => turn("$1::int8", ms),
    advance: (ms) => turn("now + $1::int8", ms),
    async now() {
      const [row] = await client<{ now: number }[]>`select now from berth.manual_clock`;
      return row?.now ?? 0;
    },
    async close() {
      await client.end({ timeout: 5 });
    },
  };
}
