/** What becomes of what preemption moved, when one of the two sides leaves early. */
import { amountsHeld } from "../amounts.ts";
import type { ReservationId } from "../ids.ts";
import { follow } from "../lifecycle.ts";
import { type Member, type Pin, type PoolConfig, type Reservation, SCALARS } from "../model.ts";
import type { ScalarAmounts } from "../model.ts";
import { extension } from "../placer/extend.ts";
import { comparePriority } from "../placer/victims.ts";
import { quotaLines, withinQuota } from "../quota.ts";
import type { PoolState } from "../state/pool-state.ts";
import type { Turn } from "../turn.ts";
import { endingSoonAt } from "./ending-soon.ts";
import { change } from "./events.ts";

/**
 * A victim that left before its notice was over: what of it the preemptor waits for is kept for it, so
 * that nobody slips into the gap.
 */
export function pinWhatIsFreed(turn: Turn, ended: Reservation, at: number): void {
  const { preemption } = ended;
  const before = preemption && turn.state.reservation(preemption.byId);
  // Until its own start it held nothing, and somebody else may.
  const from = Math.max(at, ended.start);
  if (!before || before.startedAt !== null || from >= before.start) return;
  const pins = [...before.pins];
  for (const freed of ended.members) {
    const wanted = before.members.filter(({ nodeId }) => nodeId === freed.nodeId);
    const pin = pinOf(freed, { wanted, pins, from });
    if (pin.unitIds.length > 0 || SCALARS.some((scalar) => pin.resources[scalar] > 0))
      pins.push(pin);
  }
  if (pins.length === before.pins.length) return;
  turn.apply({ kind: "reservation", before, after: { ...before, pins } });
}

function pinOf(
  freed: Member,
  about: {
    readonly wanted: readonly Member[];
    readonly pins: readonly Pin[];
    readonly from: number;
  },
): Pin {
  const { wanted, pins, from } = about;
  const units = new Set(wanted.flatMap((member) => member.unitIds));
  const pinned = pins.filter(({ nodeId }) => nodeId === freed.nodeId);
  const resources = Object.fromEntries(
    SCALARS.map((scalar) => {
      const asked = wanted.reduce((sum, member) => sum + member.resources[scalar], 0);
      const kept = pinned.reduce((sum, pin) => sum + pin.resources[scalar], 0);
      return [scalar, Math.max(0, Math.min(freed.resources[scalar], asked - kept))];
    }),
  ) as unknown as ScalarAmounts;
  const unitIds = freed.unitIds.filter((id) => units.has(id));
  return { nodeId: freed.nodeId, unitIds, resources, from };
}

/**
 * The preemptor ended before it began, or went elsewhere: its victims keep what they had, where nobody
 * else has taken it meanwhile and their tenant's quota still allows it. Those most worth keeping first.
 */
export function reprieveVictims(turn: Turn, preemptorId: ReservationId): void {
  const { state } = turn;
  const { config } = state;
  if (!config) return;
  const victims = [...state.victimsOf(preemptorId)].sort(comparePriority(config)).reverse();
  for (const before of victims) {
    const { preemption } = before;
    if (before.state !== "preempting" || !preemption || before.end <= turn.now) continue;
    const end = preemption.originalEnd;
    if (!extension(state, before, end).fits || !quotaAllows(state, config, { before, end }))
      continue;
    const soon = endingSoonAt(before.start, end);
    const after: Reservation = {
      ...before,
      state: follow(before.state, before.startedAt === null ? "reprieveUnbegun" : "reprieve"),
      preemption: null,
      end,
      leaseExpiresAt: leaseUnder(before, { end, now: turn.now }),
      endingSoonAt: soon > turn.now ? soon : null,
      version: before.version + 1,
      updatedAt: turn.now,
    };
    change(turn, "reservation.reprieved", { before, after });
  }
}

/** A lease that the notice cut short may run its full length again. */
function leaseUnder(
  { leaseSeconds, leaseExpiresAt, start }: Reservation,
  { end, now }: { readonly end: number; readonly now: number },
): number | null {
  if (leaseSeconds === null || leaseExpiresAt === null) return null;
  return Math.max(leaseExpiresAt, Math.min(Math.max(start, now) + leaseSeconds * 1_000, end));
}

/** The time that the notice took away was given back to the tenant's quota, and may be in use. */
function quotaAllows(
  state: PoolState,
  config: PoolConfig,
  { before, end }: { readonly before: Reservation; readonly end: number },
): boolean {
  const lines = quotaLines(state, config, {
    payer: before.chargedTenantId,
    amounts: amountsHeld(before, (id) => state.unit(id)?.unit),
    start: before.end,
    end,
  });
  return lines.every(withinQuota);
}
