/** Books devices for a window: the limits of the clock, the pool's state, quota, room, in this order. */
import type { ProjectId, ReservationId } from "../ids.ts";
import type { Member, Reservation } from "../model.ts";
import { without } from "../placer/victims.ts";
import { type Result, ok } from "../refusal.ts";
import type { Turn } from "../turn.ts";
import { settleNodesOf } from "./end.ts";
import { endingSoonAt } from "./ending-soon.ts";
import { change } from "./events.ts";
import { giveNotice, planPreemption } from "./preempt.ts";
import { type Booker, type BookingShape, type ResolvedBooking, resolveBooking } from "./request.ts";
import { findRoom } from "./room.ts";

export interface CreateAsk extends Booker {
  readonly shape: BookingShape;
  readonly projectId: ProjectId | null;
  /** The booking lapses unless renewed this often; null = it lasts until its end. */
  readonly leaseSeconds: number | null;
  readonly createdBy: string;
  /** The id that it gets, when it was promised one. */
  readonly id?: ReservationId;
}

/**
 * Books the best candidate. A booking that starts now is `active` at once. A regular request without room
 * has it where spot bookings are, if their notice helps: then it is scheduled from the notice's end on.
 * `NO_CAPACITY` gives the reason only: when it would fit is a search that a batch must not wait for, so
 * the caller asks for it apart (`searchedTo` is the start asked for).
 */
export function createReservation(turn: Turn, ask: CreateAsk): Result<Reservation> {
  const resolved = resolveBooking(turn.state, turn.now, ask);
  if (!resolved.ok) return resolved;
  const booking = resolved.value;
  const id = ask.id ?? turn.freshId("rsv");
  const room = findRoom(turn.state, booking);
  if (room.ok) return ok(book(turn, ask, { id, booking, members: room.value }));
  if (room.refusal.code !== "NO_CAPACITY") return room;
  return bookByNotice(turn, ask, { id, booking }) ?? room;
}

/**
 * Null when nobody's notice helps. Quota is taken, and so has to allow it, in the window that it gets;
 * nobody is told before that is sure.
 */
function bookByNotice(
  turn: Turn,
  ask: CreateAsk,
  { id, booking }: { readonly id: ReservationId; readonly booking: ResolvedBooking },
): Result<Reservation> | null {
  const { config, request } = booking;
  const plan = planPreemption(turn.state, config, { request, now: turn.now });
  if (!plan) return null;
  const later = { ...booking, request: plan.request };
  const cut = { gone: plan.victims, from: plan.startsAt };
  const room = without(turn.state, cut, () => findRoom(turn.state, later));
  if (!room.ok) return room.refusal.code === "NO_CAPACITY" ? null : room;
  const ended = giveNotice(turn, id, plan);
  const booked = book(turn, ask, { id, booking: later, members: room.value });
  for (const victim of ended) settleNodesOf(turn, victim);
  return ok(booked);
}

interface Held {
  readonly id: ReservationId;
  readonly booking: ResolvedBooking;
  readonly members: readonly Member[];
}

function book(turn: Turn, ask: CreateAsk, held: Held): Reservation {
  const after = newReservation(turn, ask, held);
  return change(turn, "reservation.created", { before: null, after });
}

function newReservation(turn: Turn, ask: CreateAsk, { id, booking, members }: Held): Reservation {
  const { config, charge, request } = booking;
  const { start, end } = request;
  const begins = start <= turn.now;
  return {
    id,
    poolId: config.id,
    tenantId: ask.tenantId,
    chargedTenantId: charge.tenantId,
    projectId: ask.projectId,
    state: begins ? "active" : "scheduled",
    binding: request.binding,
    gang: request.gang,
    node: ask.shape.node,
    spot: request.spot,
    start,
    end,
    startedAt: begins ? start : null,
    preemption: null,
    degraded: null,
    pins: [],
    leaseSeconds: ask.leaseSeconds,
    leaseExpiresAt:
      ask.leaseSeconds === null ? null : Math.min(start + ask.leaseSeconds * 1_000, end),
    endingSoonAt: endingSoonAt(start, end),
    topology: request.topology,
    devices: request.devices,
    resources: request.resources,
    members,
    endedAt: null,
    endReason: null,
    version: 1,
    createdBy: ask.createdBy,
    createdAt: turn.now,
    updatedAt: turn.now,
  };
}
