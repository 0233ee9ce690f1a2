/**
 * Who waits for room. A waiter is a row in its pool, so every server that plans for the pool knows it; it
 * is tried again whenever something was freed, before newcomers: higher offer priority first, then the
 * longer wait. One that still does not fit is passed over, not queued behind.
 */
import type { Waiter, WaiterKey } from "../claims.ts";
import type { Reservation } from "../model.ts";
import { type Result, ok, refuse } from "../refusal.ts";
import { resolveCharge } from "../quota.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { type CreateAsk, createReservation } from "./create.ts";
import { type ResolvedBooking, resolveBooking } from "./request.ts";
import { forgetNoRoom, mayHaveRoom, noteNoRoom, stillNoRoom } from "./second-look.ts";

/** One tenant's, in one pool: each is tried at everything that is freed. */
export const WAITERS_MAX = 100;

/** As long as a server counts as being there after its last sign of life. */
const FRESH_MS = 5_000;

export interface WaitAsk {
  readonly timeoutMs: number;
  /** Whose connection the caller is on: the waiter lives no longer than that server. */
  readonly serverId: string;
  /** Claimed when it is served. */
  readonly key: WaiterKey | null;
}

/** What became of a request that may wait. */
export type Asked =
  | { readonly kind: "booked"; readonly reservation: Reservation }
  | { readonly kind: "waits"; readonly waiter: Waiter };

/**
 * Books, or, for want of room alone, begins to wait: over quota is refused at once. With no time to wait
 * it is an ordinary create. `RATE_LIMITED` when as many of the tenant wait here as may.
 */
export function createOrWait(turn: Turn, ask: CreateAsk, wait: WaitAsk): Result<Asked> {
  const made = createReservation(turn, ask);
  if (made.ok) return ok({ kind: "booked", reservation: made.value });
  if (made.refusal.code !== "NO_CAPACITY" || wait.timeoutMs === 0) return made;
  if (turn.state.waiting.countOf(ask.tenantId) >= WAITERS_MAX)
    return refuse({
      code: "RATE_LIMITED",
      message: `${WAITERS_MAX} requests of the tenant wait in this pool already: let some of them end`,
    });
  const waiter = newWaiter(turn, ask, wait);
  turn.apply({ kind: "waiter", before: null, after: waiter });
  const resolved = resolveBooking(turn.state, turn.now, ask);
  if (resolved.ok) noteNoRoom(turn.state, waiter, { booking: resolved.value, now: turn.now });
  return ok({ kind: "waits", waiter });
}

function newWaiter(turn: Turn, ask: CreateAsk, wait: WaitAsk): Waiter {
  const { tenantId, ancestors, shape, projectId, leaseSeconds, createdBy } = ask;
  return {
    id: turn.freshId("rsv"),
    poolId: turn.state.gateId as Waiter["poolId"],
    tenantId,
    ancestors,
    priority: priorityOf(turn.state, ask),
    since: turn.now,
    deadline: turn.now + wait.timeoutMs,
    serverId: wait.serverId,
    key: wait.key,
    ask: { ...shape, projectId, leaseSeconds, createdBy },
  };
}

/** That of the offer which it books under; the owner's own is 0 unless it has one. */
function priorityOf({ config }: PoolState, { tenantId, ancestors }: CreateAsk): number {
  const charge = config && resolveCharge(config, tenantId, ancestors);
  const offer = config?.offers.find((row) => row.tenantId === charge?.tenantId);
  return offer?.priority ?? 0;
}

/**
 * Books for everyone who fits now. Whoever fits gets its reservation under the id that it was promised;
 * whoever is over quota goes on waiting; whoever can never be served again (the pool is archived or hidden
 * from it) waits no more. A waiter whose server has gone is passed over: its caller would never know.
 * @returns whether the line is shorter now
 */
export function serveWaiters(turn: Turn): boolean {
  const { waiting } = turn.state;
  const inLine = waiting.size;
  // What did not fit once in a pass does not fit later in it: bookings only take room away.
  const hopeless = new Set<string>();
  for (const waiter of [...waiting.all()]) {
    if (waiting.get(waiter.id) !== waiter || waiter.deadline <= turn.now) continue;
    if (!isHeld(turn, waiter)) continue;
    const form = formOf(turn.state, waiter);
    const resolved = resolveBooking(turn.state, turn.now, askOf(waiter));
    if (!resolved.ok) stopWaiting(turn, waiter);
    else if (hopeless.has(form)) continue;
    else if (!serve(turn, waiter, resolved.value)) hopeless.add(form);
  }
  return waiting.size < inLine;
}

/** Whether there was, or may still be, room for it: false is one that would not fit under any quota. */
function serve(turn: Turn, waiter: Waiter, booking: ResolvedBooking): boolean {
  const { state, now } = turn;
  if (!mayHaveRoom(state, waiter, { booking, now })) {
    stillNoRoom(state, waiter);
    return false;
  }
  const served = createReservation(turn, askOf(waiter));
  if (served.ok) stopWaitingFor(turn, waiter);
  else if (served.refusal.code !== "NO_CAPACITY") forgetNoRoom(waiter);
  else return !noteNoRoom(state, waiter, { booking, now });
  return true;
}

/** Whether anybody could be told. A server that is new here was there when its caller began to wait. */
function isHeld(turn: Turn, { serverId, since }: Waiter): boolean {
  return turn.now - since < FRESH_MS || turn.isServing(serverId);
}

/** Takes the waiter away; nothing when it waits no more. */
export function stopWaiting(turn: Turn, { id }: Pick<Waiter, "id">): void {
  const before = turn.state.waiting.get(id);
  if (before) turn.apply({ kind: "waiter", before, after: null });
}

/** Its key is spent now: others who wait with the same one are answered by what it made. */
function stopWaitingFor(turn: Turn, served: Waiter): void {
  stopWaiting(turn, served);
  if (served.key) stopWaitingWith(turn, { tenantId: served.tenantId, ...served.key });
}

/** Takes away whoever waits with a key that has made its reservation. */
export function stopWaitingWith(
  turn: Turn,
  spent: Pick<Waiter, "tenantId"> & Pick<WaiterKey, "principal" | "key">,
): void {
  for (const waiter of [...turn.state.waiting.all()]) {
    const { tenantId, key } = waiter;
    if (tenantId !== spent.tenantId) continue;
    if (key?.principal === spent.principal && key.key === spent.key) stopWaiting(turn, waiter);
  }
}

function askOf({ id, tenantId, ancestors, ask }: Waiter): CreateAsk {
  const { projectId, leaseSeconds, createdBy } = ask;
  return { id, tenantId, ancestors, shape: ask, projectId, leaseSeconds, createdBy };
}

/** Two waiters of one form fit or do not fit together: nothing else of them matters to the placer. */
function formOf(state: PoolState, { tenantId, ask }: Waiter): string {
  const { binding, gang, spot, devices, topology, resources, start, durationMs } = ask;
  const form = [binding, gang, spot, devices, topology, resources, start, durationMs];
  const [withholds] = state.unitReservations();
  // Ring-fenced units are free for some tenants and not for others.
  return JSON.stringify(withholds ? [...form, tenantId] : form);
}
