/** What must not compile. Each mistake is expected, so one that compiles after all is an error here. */
import { createBerth, isBerthError } from "@berth/client";
import type { Berth, BookingRequest, Reservation } from "@berth/client";

/** Right: the ground that the mistakes below stand on. */
const berth: Berth = createBerth({
  url: "https://berth.internal",
  token: () => Promise.resolve("token"),
});
const good: BookingRequest = {
  tenantId: "acme",
  poolId: "pool",
  devices: [{ class: "gpu", count: 1 }],
  duration: 1_000,
};

export async function mistakes(): Promise<void> {
  const reservation: Reservation = await berth.reservations.create(good, { timeoutMs: 5_000 });
  const end: number = reservation.end;
  void end;

  // @ts-expect-error a field's name is misspelt
  await berth.reservations.create({ ...good, leaseSecond: 60 });
  // @ts-expect-error a count is a number
  await berth.reservations.create({ ...good, devices: [{ class: "gpu", count: "1" }] });
  // @ts-expect-error there is no such class
  await berth.reservations.create({ ...good, devices: [{ class: "tpu", count: 1 }] });
  // @ts-expect-error a required field is missing
  await berth.reservations.create({ tenantId: "acme", devices: [], duration: "1h" });
  // @ts-expect-error the answer has no such field
  void reservation.endTime;
  // @ts-expect-error an id is not a number
  await berth.reservations.get({ tenantId: "acme", reservationId: 7 });
  // @ts-expect-error the method is of another group
  await berth.pools.timeline({ tenantId: "acme", poolId: "pool" });
  // @ts-expect-error there is no such group
  await berth.nodes.list({ tenantId: "acme" });
  // @ts-expect-error members may not have been asked for
  void reservation.members[0];
  // @ts-expect-error there is no such option
  createBerth({ url: "https://berth.internal", apiKey: "key" });
  // @ts-expect-error an answer is not any: it has no made-up methods
  reservation.cancel();
}

export function failures(error: unknown): number | null {
  if (isBerthError(error, "NO_CAPACITY")) return error.details.earliestStart;
  if (isBerthError(error, "QUOTA_EXCEEDED")) return error.details.requested;
  // @ts-expect-error these details have no earliest start
  if (isBerthError(error, "CONFLICT")) return error.details.earliestStart;
  // @ts-expect-error this code has no details
  if (isBerthError(error, "NOT_FOUND")) return error.details.kind;
  // @ts-expect-error there is no such code
  if (isBerthError(error, "NO_SUCH_CODE")) return 0;
  return null;
}
