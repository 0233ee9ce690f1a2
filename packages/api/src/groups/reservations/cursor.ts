/** Where a page of reservations ended: opaque, and of use only to the same tenant with the same filter. */
import { createHash } from "node:crypto";
import type { Input } from "@berth/contract";
import type { ReservationId } from "@berth/domain";
import { invalidInput } from "../../errors.ts";

export interface Position {
  readonly createdAt: number;
  readonly id: ReservationId;
}

type ListInput = Input<"reservations.list">;

const ID = /^rsv_[0-9a-hjkmnp-tv-z]{26,52}$/;

export function encodeCursor(input: ListInput, last: Position): string {
  const parts = [last.createdAt, last.id, filterTag(input)];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws ApiError when it is not a cursor of this list */
export function decodeCursor(input: ListInput, cursor: string): Position {
  const [createdAt, id, tag, ...rest] = parts(cursor);
  const known =
    rest.length === 0 &&
    Number.isSafeInteger(createdAt) &&
    typeof id === "string" &&
    ID.test(id) &&
    tag === filterTag(input);
  if (!known)
    throw invalidInput(["cursor"], "is not a cursor of this list: begin again without one");
  return { createdAt: createdAt as number, id: id as ReservationId };
}

function parts(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** What the list is of; how much of it a page holds may change from page to page. */
function filterTag(input: ListInput): string {
  const { tenantId, poolId, projectId, state, from, to } = input;
  const filter = [
    "berth/reservations/list",
    tenantId,
    poolId ?? null,
    projectId ?? null,
    state ? [...new Set(state)].sort() : null,
    from ?? null,
    to ?? null,
  ];
  return createHash("sha256").update(JSON.stringify(filter)).digest("base64url").slice(0, 16);
}
