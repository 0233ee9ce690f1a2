/** What holds of a pool after every batch, whatever was done to it. */
import { SCALARS, RESOURCES } from "../../model.ts";
import type { Waiter } from "../../claims.ts";
import type { PoolSnapshot, Reservation } from "../../model.ts";
import { extension } from "../../placer/extend.ts";
import { createReservation } from "../../reservations/create.ts";
import { rehouse } from "../../reservations/rehouse.ts";
import { recountRollup } from "../../rollup/recount.ts";
import { PoolState, type StateDelta } from "../../state/pool-state.ts";
import { findRoom } from "../../reservations/room.ts";
import { resolveBooking } from "../../reservations/request.ts";
import type { Change } from "../../turn.ts";
import { TENANTS } from "./start.ts";
import {
  chargeOf,
  dump,
  harmedUnits,
  meets,
  nextDue,
  nodeOf,
  scalarPeak,
  sorted,
  takenIn,
} from "./plain.ts";
import { type Batch, BatchTurn, type Gate, type World } from "./world.ts";

export function faultsOfState(world: World, batch: Batch): string[] {
  const { gate } = batch;
  const { state, rows } = gate;
  const faults: string[] = [];
  const say = (what: string): unknown => faults.push(`${state.gateId}: ${what}`);
  checkRows({ before: batch.before, gate, now: world.now }, say);
  if (!same(dump(state), dump(PoolState.load(rows)), say)) say("is not what its rows say");
  if (!batch.leavesFreed) {
    checkLacking(batch, say);
    for (const waiter of rows.waiters) checkWaiter(world, batch, { waiter, say });
  }
  checkGraced(world, batch, say);
  return faults;
}

/** A pool's rows right after a batch, and a state that says the same. */
interface After {
  readonly before: PoolSnapshot;
  readonly gate: { readonly state: PoolState; readonly rows: PoolSnapshot };
  readonly now: number;
}

/** What holds of a pool's rows after any batch, one that serves nobody included. */
export function faultsOfRows(before: PoolSnapshot, rows: PoolSnapshot, now: number): string[] {
  const faults: string[] = [];
  const gate = { state: PoolState.load(rows), rows };
  checkRows({ before, gate, now }, (what) => faults.push(`${rows.gateId}: ${what}`));
  return faults;
}

function checkRows(after: After, say: Say): void {
  const { gate, now } = after;
  const { state, rows } = gate;
  checkTaken(after, say);
  checkCharged(after, say);
  checkFenced(rows, say);
  const [counted, recounted] = [state.rollup(), recountRollup(rows, now)];
  if (text(counted) !== text(recounted)) say(`counts ${text(counted)}, not ${text(recounted)}`);
  if (state.nextDueAt() !== nextDue(rows)) say(`is due at ${state.nextDueAt()}`);
  const due = state.due(now);
  // A window that is scheduled from now on is started by the next batch.
  if (due && due.kind !== "maintenanceStart") say(`${text(due)} was left undone`);
  for (const r of rows.reservations) checkOne(after, { r, say });
}

type Say = (what: string) => unknown;
const text = (value: unknown): string => JSON.stringify(value);

function same(a: string, b: string, say: Say): boolean {
  if (a === b) return true;
  const [left, right] = [JSON.parse(a), JSON.parse(b)] as Record<string, unknown>[];
  for (const key of Object.keys(left ?? {}))
    if (text(left?.[key]) !== text(right?.[key]))
      say(`${key} is ${text(left?.[key])}, not ${text(right?.[key])}`);
  return false;
}

function checkTaken({ before, gate: { rows } }: After, say: Say): void {
  const taken = takenIn(rows.reservations);
  const byUnit = new Map<string, typeof taken>();
  for (const one of taken)
    for (const id of one.unitIds) {
      const others = byUnit.get(id) ?? [];
      const other = others.find((o) => meets(o, one));
      if (other) say(`${id} is held by ${other.by.id} and ${one.by.id} at one time`);
      byUnit.set(id, [...others, one]);
      if (!nodeOf(rows, one.nodeId)?.units.some((unit) => unit.id === id))
        say(`${one.by.id} holds ${id}, which is not on ${one.nodeId}`);
    }
  const ever = { start: 0, end: Number.POSITIVE_INFINITY };
  const was = takenIn(before.reservations);
  for (const { id: nodeId, scalars } of rows.nodes)
    for (const scalar of SCALARS) {
      const about = { nodeId, scalar };
      const peak = scalarPeak(taken, about, ever);
      if (peak <= scalars[scalar]) continue;
      // A node that shrinks is asked for its bookings only: what is pinned in a gap is nobody's use.
      if (peak > scalarPeak(was, about, ever)) say(`${nodeId} has ${peak} ${scalar} taken`);
      const used = taken.filter(({ pinned }) => !pinned);
      if (scalarPeak(used, about, ever) > scalars[scalar]) say(`${nodeId} is short of ${scalar}`);
    }
}

/** At no instant from now on is a tenant over its maximum, and what it uses is known exactly. */
function checkCharged({ now, gate: { state, rows } }: After, say: Say): void {
  const charges = rows.reservations.map((r) => ({ r, charge: chargeOf(rows, r) }));
  const edges = new Set(rows.reservations.flatMap(({ start, end }) => [start, end, end - 1]));
  const quotas = new Map(rows.config?.quotas.map((q) => [`${q.tenantId} ${q.resource}`, q.max]));
  for (const tenantId of TENANTS) {
    const mine = charges.filter(({ r }) => r.chargedTenantId === tenantId);
    for (const resource of RESOURCES) {
      const always = resource === "gpu" || resource === "gpu.mig" || resource === "gpu.slot";
      const max = quotas.get(`${tenantId} ${resource}`) ?? (always ? 0 : Number.POSITIVE_INFINITY);
      for (const at of edges) {
        let level = 0;
        for (const { r, charge } of mine)
          if (r.start <= at && at < r.end) level += charge.get(resource) ?? 0;
        const known = state.usage(tenantId, resource)?.at(at) ?? 0;
        if (known !== level) say(`${tenantId} uses ${level} ${resource} and is charged ${known}`);
        if (level > max && at >= now) say(`${tenantId} uses ${level} ${resource} of ${max}`);
      }
    }
  }
}

/** Inside a term that stands nobody but the audience holds a unit, unless it is on the market, as spot. */
function checkFenced(rows: PoolSnapshot, say: Say): void {
  for (const term of rows.unitReservations) {
    const window = { start: term.startsAt, end: term.endsAt ?? Number.POSITIVE_INFINITY };
    const node = nodeOf(rows, term.nodeId);
    for (const id of term.unitIds) {
      if (!node?.units.some((unit) => unit.id === id)) say(`${term.id} speaks for no unit: ${id}`);
      for (const r of rows.reservations) {
        const held = r.members.some(({ unitIds }) => unitIds.includes(id)) && meets(r, window);
        if (!held || term.allowedOrgIds.includes(r.tenantId)) continue;
        if (!r.spot || !term.releasedUnitIds.includes(id))
          say(`${r.id} of ${r.tenantId} holds ${id}, which ${term.id} withholds`);
      }
    }
    if (term.status !== "needs-review" && term.topologyGen !== node?.topologyGen)
      say(`${term.id} is ${term.status} at another generation than its node's`);
  }
}

interface One {
  readonly r: Reservation;
  readonly say: Say;
}

function checkOne({ gate: { rows }, now }: After, { r, say }: One): void {
  if (r.end <= now) say(`${r.id} is over and live`);
  if (r.leaseExpiresAt !== null && (r.leaseExpiresAt <= now || r.leaseExpiresAt > r.end))
    say(`${r.id} has a lease until ${r.leaseExpiresAt}`);
  if ((r.startedAt !== null) !== r.start <= now) say(`${r.id} begins at the wrong time`);
  if (r.state === "scheduled" && r.startedAt !== null) say(`${r.id} is scheduled and has begun`);
  if (r.state === "active" && r.startedAt === null) say(`${r.id} is active and has not begun`);
  const harmed = harmedUnits(rows, r);
  if (text(sorted(r.degraded?.unitIds ?? [])) !== text(sorted(harmed)))
    say(`${r.id} (${r.state}) is flagged for ${r.degraded?.unitIds.join()}, not ${harmed.join()}`);
  if ((r.state === "preempting") !== (r.preemption !== null)) say(`${r.id} is under half a notice`);
  const by = rows.reservations.find(({ id }) => id === r.preemption?.byId);
  if (r.preemption && r.preemption.endsAt !== r.end) say(`${r.id} ends otherwise than told`);
  if (by && by.start !== r.end) say(`${by.id} begins at another time than ${r.id} ends`);
  for (const pin of r.pins) {
    const own = r.members.filter(({ nodeId }) => nodeId === pin.nodeId);
    const units = new Set<string>(own.flatMap(({ unitIds }) => unitIds));
    if (r.startedAt !== null || pin.from >= r.start) say(`${r.id} has a pin that is over`);
    if (pin.unitIds.some((id) => !units.has(id))) say(`${r.id} has a pin on others' units`);
  }
}

/** Nobody lacks sound units who could have them elsewhere, and no victim ends for nobody who could stay. */
function checkLacking({ gate: { state, rows }, turn }: Batch, say: Say): void {
  for (const r of rows.reservations) {
    if (r.degraded?.untried) say(`${r.id} was not tried`);
    if (isAmongMany(rows, r, r.chargedTenantId)) continue;
    if (r.degraded && r.state === "scheduled" && rehouse(state, r).ok)
      say(`${r.id} could be elsewhere`);
  }
  const gone = turn.changes.flatMap((c) =>
    c.kind === "reservation" && c.after.startedAt === null && leaves(turn.now, c)
      ? [c.after.id]
      : [],
  );
  for (const r of rows.reservations) {
    const { preemption } = r;
    if (!preemption || !gone.includes(preemption.byId)) continue;
    const { start, end } = { start: r.end, end: preemption.originalEnd };
    const charged = { ...r, start, end, state: "released" as const };
    const fits = extension(state, r, end).fits;
    if (fits && withinQuota(state, rows, charged))
      say(`${r.id} ends for ${preemption.byId}, which has gone or moved`);
  }
}

/**
 * A lease is over its quota when the best nodes are and those with the fewest GPUs: others that cost less
 * of something else are not looked for, until somebody takes the ones that were.
 */
function isAmongMany(
  { config }: Pick<PoolSnapshot, "config">,
  { binding }: { binding: string },
  payer: string,
): boolean {
  return (
    binding === "node" &&
    (config?.quotas ?? []).some((q) => q.tenantId === payer && q.resource === "vcpu")
  );
}

function leaves(now: number, { before, after }: Extract<Change, { kind: "reservation" }>): boolean {
  return after.endedAt === now || (before !== null && text(before.members) !== text(after.members));
}

function withinQuota(state: PoolState, rows: PoolSnapshot, r: Reservation): boolean {
  return [...chargeOf(rows, r)].every(([resource, amount]) => {
    const row = rows.config?.quotas.find(
      (q) => q.tenantId === r.chargedTenantId && q.resource === resource,
    );
    const max = row?.max ?? (resource.startsWith("gpu") ? 0 : Number.POSITIVE_INFINITY);
    const peak = state.usage(r.chargedTenantId, resource)?.peak(r.start, r.end) ?? 0;
    return peak + amount <= max;
  });
}

/**
 * Nobody waits who could have room. Where others would have to be told first, time alone may bring that
 * about, or others who have come and may be told: it is looked for only where something was freed.
 */
function checkWaiter(
  world: World,
  { gate: { state }, turn }: Batch,
  { waiter, say }: { readonly waiter: Waiter; readonly say: Say },
): void {
  if (waiter.deadline <= world.now) return void say(`${waiter.id} waits beyond its deadline`);
  if (world.gone.has(waiter.serverId) && world.now - waiter.since >= 5_000) return;
  const { ask, tenantId, ancestors } = waiter;
  const resolved = resolveBooking(state, world.now, { tenantId, ancestors, shape: ask });
  if (!resolved.ok) return;
  if (isAmongMany(state, ask, resolved.value.charge.tenantId)) return;
  if (findRoom(state, resolved.value).ok) say(`${waiter.id} waits and has room`);
  const onlyFreed = turn.changes.every((c) => c.kind !== "reservation" || c.after.endedAt !== null);
  if (!turn.hasFreed || !onlyFreed || !canBook(world, state, waiter)) return;
  for (const change of turn.changes.toReversed()) state.revert(change);
  const could = canBook(world, state, waiter);
  for (const change of turn.changes) state.apply(change);
  if (!could) say(`${waiter.id} waits and could be booked by notice`);
}

function canBook(world: World, state: PoolState, waiter: Waiter): boolean {
  const scratch = new BatchTurn(world, state);
  const start = scratch.checkpoint();
  const made = createReservation(scratch, { ...waiter, ...waiter.ask, shape: waiter.ask });
  scratch.rollback(start);
  return made.ok;
}

/** No lease lapses that an outage was in the way of, and none while nobody trusts the clock. */
function checkGraced({ heldSince }: World, { before, turn, outages }: Batch, say: Say): void {
  const held = heldSince === null ? [] : [{ from: heldSince, to: turn.now }];
  for (const { from, to } of [...outages, ...held])
    for (const r of before.reservations) {
      if (r.leaseExpiresAt === null || r.leaseExpiresAt <= from || to !== turn.now) continue;
      const ended = turn.changes.some(
        (c) => c.kind === "reservation" && c.after.id === r.id && c.after.state === "expired",
      );
      if (ended) say(`the lease of ${r.id} lapsed in an outage`);
    }
}

/** Taking all of a batch back gives what was before it, doing it again what was after. */
export function faultsOfUndoing({ gate: { state }, before, turn }: Batch): string[] {
  const faults: string[] = [];
  const say: Say = (what) => faults.push(`taken back, ${what}`);
  const after = dump(state);
  for (const change of turn.changes.toReversed()) state.revert(change);
  same(dump(state), dump(PoolState.load(before)), say);
  for (const change of turn.changes) state.apply(change);
  same(dump(state), after, say);
  return faults;
}

/** Another server's state, which reads only the rows that changed, is the same. */
export function faultsOfFollowing(gate: Gate): string[] {
  const { unread, rows } = gate;
  const last = new Map<string, Change>();
  for (const change of unread)
    last.set(`${change.kind} ${(change.after ?? change.before)?.id}`, change);
  gate.unread = [];
  const list = [...last.values()];
  if (list.some(({ kind, after }) => kind === "node" && after === null)) {
    gate.follower = PoolState.load(rows);
    return [];
  }
  const { follower } = gate;
  follower.absorb(deltaOf(list));
  const faults: string[] = [];
  same(dump(follower), dump(gate.state), (what) => faults.push(`in a follower ${what}`));
  return faults;
}

function deltaOf(list: readonly Change[]): StateDelta {
  return {
    config: list.flatMap((c) => (c.kind === "config" ? [c.after] : []))[0] ?? null,
    nodes: list.flatMap((c) => (c.kind === "node" && c.after ? [c.after] : [])),
    reservations: list.flatMap((c) => (c.kind === "reservation" ? [c.after] : [])),
    unitReservations: list.flatMap((c) =>
      c.kind === "unitReservation" && c.after ? [c.after] : [],
    ),
    waiters: list.flatMap((c) =>
      c.kind === "waiter"
        ? [{ id: (c.after ?? c.before)?.id as Waiter["id"], waiter: c.after }]
        : [],
    ),
  };
}
