/** Column kinds that the tables share. */
import { bigint, customType } from "drizzle-orm/pg-core";

/** An int8 that the product keeps below 2^53: milliseconds since the epoch, sequence numbers, amounts. */
export function int53(name: string) {
  return bigint(name, { mode: "number" });
}

export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/** A half-open window in milliseconds, in PostgreSQL's text form `[start,end)`. */
export const int8range = customType<{ data: string }>({ dataType: () => "int8range" });

/** A transaction id that never wraps around, as text: it may pass 2^53 in theory. */
export const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });
