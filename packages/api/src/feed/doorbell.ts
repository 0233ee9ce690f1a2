/**
 * Rings every server's feed when something was committed. Inside the booking's transaction a NOTIFY would
 * serialise all commits of the database, so it goes after the commit, over another connection, and never
 * faster than one at a time: rings that come meanwhile become one. A lost ring costs one poll.
 */
import { randomUUID } from "node:crypto";
import type { Database, Listening } from "@berth/db";

const CHANNEL = "berth_feed";
/** Between the end of one ring and the next. */
const GAP_MS = 25;
/** Our own ring comes back in this time, or we have gone deaf. */
const DEAF_AFTER_MS = 5_000;

export interface Doorbell {
  /** Something was committed here. */
  ring(): void;
  /** From now on every ring of the database is heard. */
  open(): void;
  close(): Promise<void>;
}

export function createDoorbell(db: Database, heard: () => void): Doorbell {
  return new Bell(db, heard);
}

class Bell implements Doorbell {
  readonly #db: Database;
  readonly #heard: () => void;
  readonly #name: string = randomUUID();
  #listening: Listening | null = null;
  /** When our oldest ring that has not come back was sent. */
  #unheardSince: number | null = null;
  #sending: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(db: Database, heard: () => void) {
    this.#db = db;
    this.#heard = heard;
  }

  ring(): void {
    if (this.#closed) return;
    if (this.#sending) {
      this.#again = true;
      return;
    }
    this.#sending = this.#send().finally(() => {
      this.#sending = null;
      if (!this.#again) return;
      this.#again = false;
      this.ring();
    });
  }

  open(): void {
    if (this.#listening || this.#closed) return;
    this.#unheardSince = null;
    this.#listening = this.#db.listen(CHANNEL, (payload) => {
      if (payload === this.#name) this.#unheardSince = null;
      this.#heard();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#again = false;
    await this.#sending;
    await this.#listening?.close();
    this.#listening = null;
  }

  async #send(): Promise<void> {
    try {
      // A ring that a crash of the database forgets is no loss, so nobody waits for its disk.
      await this.#db.sql`
        select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${this.#name})`;
    } catch {
      return;
    }
    if (this.#listening) this.#mindDeafness();
    await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  }

  #mindDeafness(): void {
    this.#unheardSince ??= performance.now();
    if (performance.now() - this.#unheardSince < DEAF_AFTER_MS) return;
    void this.#listening?.close().catch(() => undefined);
    this.#listening = null;
    this.open();
  }
}
