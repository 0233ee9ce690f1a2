/**
 * What every app does with the client, whatever runs it: asks who it is and what fits, books, renews, is told of it,
 * gives it back, holds, and meets an error. Answers one line, the same everywhere.
 */
export async function work({ createBerth, gpus, isBerthError }, options) {
  const berth = createBerth({ ...options, appInfo: { name: "consumer" } });
  const { tenantId } = await berth.access.whoami();
  const { pools } = await berth.pools.list({ tenantId });
  const ask = { tenantId, poolId: pools[0].id, ...gpus(1), duration: "10m", leaseSeconds: 60 };
  const { fits } = await berth.capacity.preview(ask);
  // Where the stream begins, so that what happens before it is open is not missed.
  const [oldest] = await berth.events.list({ tenantId }).toArray({ limit: 1 });

  const { id: reservationId } = await berth.reservations.create(ask);
  const renewed = await berth.reservations.renew({ tenantId, reservationId });
  const event = await first(
    berth.reservations.watch({ tenantId, reservationId }, { lastEventId: oldest.cursor }),
  );
  const { state } = await berth.reservations.release({ tenantId, reservationId });
  const held = await berth.withHold(ask, (hold) => hold.reservation.state);
  const refused = await berth.reservations.create({ ...ask, ...gpus(512) }).safe();

  return [
    fits ? "fits" : "does not fit",
    renewed.state,
    event.type,
    state,
    `held ${held}`,
    isBerthError(refused.error, "QUOTA_EXCEEDED") && refused.error instanceof Error
      ? `${refused.error.details.requested} are over the quota`
      : `not refused: ${refused.error?.message}`,
  ].join(", ");
}

async function first(events) {
  for await (const event of events) return event;
  throw new Error("the stream ended before anything was told");
}
