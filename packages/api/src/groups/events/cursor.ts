/**
 * A place in the feed: `<epoch>.<xid>.<id>`. The epoch names the database that numbered it: transaction
 * ids start over in a restored one, so a cursor of another epoch says nothing here.
 */
import { createHash } from "node:crypto";
import type { Database } from "@berth/db";
import { ApiError, invalidInput } from "../../errors.ts";

export interface Place {
  /** A 64-bit transaction id, as text: it may pass 2^53. */
  readonly xid: string;
  readonly id: number;
}

/** Whether the feed comes to `place` later than to `other`. */
export function isAfter(place: Place, other: Place): boolean {
  if (place.xid.length !== other.xid.length) return place.xid.length > other.xid.length;
  return place.xid === other.xid ? place.id > other.id : place.xid > other.xid;
}

const CURSOR = /^([0-9a-f]{16})\.(\d{1,19})\.(\d{1,15})$/;

export function encodeEventCursor(epoch: string, { xid, id }: Place): string {
  return Buffer.from(`${epoch}.${xid}.${id}`).toString("base64url");
}

/** @throws ApiError INVALID_INPUT for other text, CURSOR_EXPIRED for another epoch */
export function decodeEventCursor(epoch: string, cursor: string, field = "after"): Place {
  const [, of, xid, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (of === undefined || xid === undefined || id === undefined)
    throw invalidInput(
      [field],
      "is not an event cursor: give the `cursor` of an event, or leave it out",
    );
  if (of !== epoch) throw expired("the cursor is from another database");
  return { xid, id: Number(id) };
}

export function expired(internal: string): ApiError {
  return new ApiError("CURSOR_EXPIRED", { internal });
}

const epochs = new WeakMap<Database, Promise<string>>();

/** Of the system identifier and the database: asked once a process. */
export function epochOf(db: Database): Promise<string> {
  let epoch = epochs.get(db);
  if (!epoch) {
    epoch = readEpoch(db);
    epoch.catch(() => epochs.delete(db));
    epochs.set(db, epoch);
  }
  return epoch;
}

async function readEpoch(db: Database): Promise<string> {
  const [row] = await db.sql<{ system: string; oid: string }[]>`
    select system_identifier::text as system, d.oid::text as oid
    from pg_control_system(), pg_database d where d.datname = current_database()`;
  const text = JSON.stringify(["berth/events/epoch", row?.system, row?.oid]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
