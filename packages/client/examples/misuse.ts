/** What must not compile. Each mistake is expected, so one that compiles after all is an error here. */
import { createBerth, gpus, isBerthError } from "@berth/client";
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
  // @ts-expect-error the option has another name
  createBerth({ url: "https://berth.internal", retries: 3 });
}

export async function finished(): Promise<void> {
  const list = berth.reservations.list({ tenantId: "acme" });
  for await (const { id } of list) void id.length;
  // @ts-expect-error how many there are is nobody's promise
  await list.toArray();
  // @ts-expect-error what holds a page is no entry
  for await (const { nextCursor } of list) void nextCursor;
  // @ts-expect-error pools come all at once
  void berth.pools.list({ tenantId: "acme" })[Symbol.asyncIterator];

  const result = await berth.reservations.create(good).safe();
  // @ts-expect-error whether it was booked has to be looked at first
  void result.data.id;
  if (result.ok) void result.data.id.length;
  else void result.error.code.length;
  const { requestId } = await berth.reservations.create(good).withResponse();
  // @ts-expect-error a server need not name a request
  void requestId.length;

  const shape = gpus(16, { together: "rack", selector: { model: "H100" } });
  await berth.capacity.preview({ ...good, ...shape });
  // @ts-expect-error units that are named are not so many of any kind
  gpus(1, { selector: { unitIds: ["unit"] } });
  // @ts-expect-error how many is a number
  gpus("16");

  const hold = await berth.hold(good, { signal: AbortSignal.timeout(1_000) });
  const loss = await hold.lost;
  // @ts-expect-error there is no such reason
  if (loss.details.reason === "stolen") return;
  // @ts-expect-error the newest reservation is the server's to say
  hold.reservation = reservationOf(loss);
  // @ts-expect-error nothing is known of what it answers
  void (await berth.call("clusters.list", {}, { kind: "read" })).clusters;

  // A word that an answer may have some day is no mistake, and a misspelt one in a question is.
  if (hold.reservation.state === "paused") return;
  // @ts-expect-error there is no such state to ask for
  await berth.reservations.list({ tenantId: "acme", state: ["paused"] });
}

function reservationOf(loss: {
  readonly details: { readonly reservation: Reservation };
}): Reservation {
  return loss.details.reservation;
}

export function failures(error: unknown): number | null {
  if (isBerthError(error, "NO_CAPACITY"))
    return error.details.earliestStart ?? error.earliestStart ?? error.reason.message.length;
  // @ts-expect-error without its code there may be no reason
  if (isBerthError(error)) void error.reason.message;
  if (isBerthError(error, "QUOTA_EXCEEDED")) return error.details.requested;
  // @ts-expect-error these details have no earliest start
  if (isBerthError(error, "CONFLICT")) return error.details.earliestStart;
  // @ts-expect-error this code has no details
  if (isBerthError(error, "NOT_FOUND")) return error.details.kind;
  // @ts-expect-error there is no such code
  if (isBerthError(error, "NO_SUCH_CODE")) return 0;
  return null;
}
