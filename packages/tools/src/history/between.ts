/** What the pool was in the middle of a batch, as far as the events of the batch tell. */
import { factsOfEvent } from "./facts.ts";
import type { Known } from "./replay.ts";
import { type OfferRow, type QuotaRow, type UnitRow, isLive } from "./rows.ts";
import type { EventRow } from "./types.ts";
import type { View } from "./view.ts";

interface Did {
  /** Each once, in their order. */
  readonly events: readonly EventRow[];
  /** As each tenant was told of them: only the owner hears to whom a pool is offered. */
  readonly told: readonly EventRow[];
  readonly touched: readonly Known[];
}

/**
 * What commands in the middle of the batch saw: its first reservations changed, the others as before; its first
 * offers made; nodes and ring-fences before and after, as no event says which of them was first.
 */
export function betweenEvents(after: View, before: View, did: Did): View[] {
  const rows = new Map(did.touched.map(({ row }) => [row.id, row]));
  const now = new Map(before.reservations.map((row) => [row.id, row]));
  const views: View[] = [after, before, { ...after, reservations: before.reservations }];
  let { quotas, offers } = before;
  for (const { idx, type, reservationId, data } of did.events) {
    const row = reservationId === null ? undefined : rows.get(reservationId);
    if (type === "pool.offered" || type === "pool.unoffered") {
      const offer = offerOf(did.told, idx);
      offers = withOffer(offers, { type, data: offer });
      quotas = type === "pool.offered" ? withQuota(quotas, offer) : quotas;
    } else if (!row) continue;
    if (row) {
      const { state, start, end } = factsOfEvent(data);
      if (isLive({ state })) now.set(row.id, { ...row, state, start, end, ended_at: null });
      else now.delete(row.id);
    }
    const reservations = [...now.values()];
    const sights = [
      { ...after, reservations },
      { ...before, at: after.at, reservations },
    ];
    views.push(...sights);
    if (quotas !== before.quotas || offers !== before.offers)
      views.push(...sights.map((view) => ({ ...view, quotas, offers })));
  }
  return views;
}

/** What the owner was told of an offer, or of its end. */
function offerOf(told: readonly EventRow[], idx: number): EventRow["data"] {
  return told.find((event) => event.idx === idx && "toTenantId" in event.data)?.data ?? {};
}

function withOffer(
  offers: readonly OfferRow[],
  { type, data }: Pick<EventRow, "type" | "data">,
): readonly OfferRow[] {
  const tenant_id = String(data["toTenantId"]);
  const others = offers.filter((row) => row.tenant_id !== tenant_id);
  if (type === "pool.unoffered") return others;
  return [...others, { tenant_id, include_descendants: data["includeDescendants"] === true }];
}

/** The tenant's are those that the offer names. */
function withQuota(quotas: readonly QuotaRow[], data: EventRow["data"]): readonly QuotaRow[] {
  const tenant_id = String(data["toTenantId"]);
  const named = Object.entries((data["quota"] ?? {}) as Record<string, number>);
  return [
    ...quotas.filter((row) => row.tenant_id !== tenant_id),
    ...named.map(([resource, max]) => ({ tenant_id, resource, max, used: 0, used_at: 0 })),
  ];
}

/** Whether the batch put the unit in service, of which neither its beginning nor its end need show anything. */
export function cameInService(events: readonly EventRow[], unit: UnitRow): boolean {
  return events.some(({ type, data }) => {
    if (type === "unit.healthChanged")
      return (
        data["healthy"] === true && [unit.id, unit.parent_unit_id].includes(String(data["unitId"]))
      );
    if (data["nodeId"] !== unit.node_id) return false;
    if (type === "node.stateChanged") return data["state"] === "ready";
    return ["maintenance.cancelled", "maintenance.ended", "node.topologyChanged"].includes(type);
  });
}
