/** One change that belongs to a tenant and no pool: what it writes and its event, in one transaction. */
import type { SlotTransaction } from "@berth/db";
import { emitEvents } from "@berth/db";
import { type DomainEvent, type EventType, type TenantId, freshId } from "@berth/domain";
import type { Call } from "../call.ts";

export interface Told {
  readonly type: EventType;
  /** The tenant whose stream it is in. */
  readonly tenantId: TenantId;
  readonly views: DomainEvent["views"];
}

export interface TenantTx extends SlotTransaction {
  readonly now: number;
  tell(event: Told): Promise<void>;
}

/**
 * One change at a time of the thing whose id is made from its name: two that make it at once would meet at
 * the name's own constraint.
 */
export async function lockName(tx: SlotTransaction, id: string): Promise<void> {
  await tx.q("select pg_advisory_xact_lock(hashtext($1))", [id]);
}

/** Events of one tenant are numbered one after the other, so its changes are too. */
export function changeTenant<T>(call: Call, work: (tx: TenantTx) => Promise<T>): Promise<T> {
  const { db, random } = call.deps;
  return db.slots.tx(async (tx) => {
    const [clock] = await tx.q<{ now: number }>("select berth.now_ms() as now");
    const now = Number(clock?.now);
    return work({
      ...tx,
      now,
      async tell({ type, tenantId, views }) {
        const id = freshId("evt", now, random(10));
        await emitEvents(tx, `tenant:${tenantId}`, [
          { id, type, at: now, reservationId: null, views },
        ]);
      },
    });
  });
}
