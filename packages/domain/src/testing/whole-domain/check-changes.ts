/** What every change of a batch has to keep to, each looked at with the rows that it found. */
import { SCALARS } from "../../model.ts";
import type { Member, Node, PoolSnapshot, Reservation } from "../../model.ts";
import { TRANSITIONS } from "../../lifecycle.ts";
import type { Change } from "../../turn.ts";
import { bruteCanTake, bruteIsSound, bruteIsWithheld } from "../brute-force.ts";
import { changed } from "../history.ts";
import { type Span, isLive, meets, nodeOf, scalarPeak, sorted, takenIn } from "./plain.ts";
import type { Batch, Told } from "./world.ts";

type Say = (what: string) => void;
type Of<K extends Change["kind"]> = Extract<Change, { kind: K }>;

type About = Pick<Written, "events" | "graced" | "moved"> & { readonly say: Say };

interface At {
  readonly batch: Batch;
  /** Before the change. */
  readonly rows: PoolSnapshot;
  readonly place: number;
  readonly say: Say;
}

export function faultsOfChanges(batch: Batch): string[] {
  const faults: string[] = [];
  let rows = batch.before;
  batch.turn.changes.forEach((change, place) => {
    const id = (change.after ?? change.before)?.id ?? "";
    const say: Say = (what) => faults.push(`${change.kind} ${id}: ${what}`);
    const at = { batch, rows, place, say };
    if (JSON.stringify(storedFor(rows, change)) !== JSON.stringify(change.before))
      say("the row that it changes is not the one that is there");
    const { events, graced } = batch.turn;
    const about = { events, graced: place < graced, moved: batch.leavesFreed, say };
    if (change.kind === "reservation") checkReservation(at, about, change);
    else if (change.kind === "node") checkNode(about, change);
    else if (change.kind === "unitReservation") checkTerm(about, change);
    else if (change.kind === "waiter") checkWaiter(at, change);
    rows = changed(rows, change);
  });
  const { before, gate, turn } = batch;
  const made = turn.changes.flatMap((c) => (c.kind === "reservation" ? c.after : []));
  checkViews(turn.events, [...before.reservations, ...gate.rows.reservations, ...made], faults);
  return faults;
}

/** One write: what it changed, a change a row, and what it told. */
export interface Written {
  readonly before: PoolSnapshot;
  readonly changes: readonly Change[];
  readonly events: readonly Told[];
  /** Leases were minded in it; nobody is told of that. */
  readonly graced: boolean;
  /** A node came from or went to another pool by it, and took what stands on it along. */
  readonly moved: boolean;
}

/** What is seen of a write from outside: it began where the rows were, and it told of all that it did. */
export function faultsOfWrite(written: Written): string[] {
  const { before, changes, events } = written;
  const faults: string[] = [];
  for (const change of changes) {
    const id = (change.after ?? change.before)?.id ?? "";
    const say: Say = (what) => faults.push(`${change.kind} ${id}: ${what}`);
    const stored = storedFor(before, change);
    if (stored !== change.before && JSON.stringify(stored) !== JSON.stringify(change.before))
      say("the row that it changes is not the one that is there");
    const about = { ...written, say };
    if (change.kind === "reservation") checkTold(about, change.before, change.after);
    else if (change.kind === "node") checkNode(about, change);
    else if (change.kind === "unitReservation") checkTerm(about, change);
  }
  const rows = [
    before.reservations,
    changes.flatMap((c) => (c.kind === "reservation" ? c.after : [])),
  ];
  checkViews(events, rows.flat(), faults);
  return faults;
}

function storedFor(rows: PoolSnapshot, { kind, before, after }: Change): unknown {
  if (kind === "config") return rows.config;
  const id = (after ?? before)?.id;
  const lists = {
    reservation: rows.reservations,
    node: rows.nodes,
    unitReservation: rows.unitReservations,
    waiter: rows.waiters,
  };
  return (lists[kind] as readonly { id: string }[]).find((row) => row.id === id) ?? null;
}

function checkReservation(at: At, about: About, { before, after }: Of<"reservation">): void {
  const { batch, say } = at;
  const { now } = batch.turn;
  if (before === null) {
    if (batch.gate.rows.reservations.every(({ id }) => id !== after.id) && isLive(after))
      if (!batch.gate.ended.has(after.id)) say("it was made and is neither there nor ended");
    if (after.state !== (after.start <= now ? "active" : "scheduled")) say(`made ${after.state}`);
    if (after.version !== 1 || after.pins.length > 0 || after.degraded) say("made with a past");
    checkCharge(at, after);
  } else {
    const ways: readonly string[] = Object.values(TRANSITIONS[before.state]);
    if (before.state !== after.state && !ways.includes(after.state))
      say(`went from ${before.state} to ${after.state}`);
    if (before.startedAt !== null && text(before.members) !== text(after.members))
      say("it had begun and was moved");
    if (before.startedAt !== null && after.startedAt !== before.startedAt) say("began again");
    if (identity(before) !== identity(after)) say("became another booking");
    if (!isLive(after) && after.endedAt === null) say("ended at no time");
  }
  if (isLive(after)) checkHolding(at, before, after);
  checkNotice(at, before, after);
  checkEarlyLeave(at, before, after);
  checkTold(about, before, after);
}

const text = (value: unknown): string => JSON.stringify(value);

function identity(r: Reservation): string {
  const { poolId, tenantId, chargedTenantId, binding, gang, node, spot, start, devices } = r;
  const { leaseSeconds, topology, resources, createdAt } = r;
  const who = [poolId, tenantId, chargedTenantId, leaseSeconds, createdAt];
  return text([...who, binding, gang, node, spot, start, devices, topology, resources]);
}

/** Charged to the owner, to an offered tenant, or to one that was offered the pool with its descendants. */
function checkCharge({ rows, say }: At, r: Reservation): void {
  const { tenantId, offers = [] } = rows.config ?? {};
  const offered = offers.some((offer) => offer.tenantId === r.chargedTenantId);
  if (!offered && r.chargedTenantId !== tenantId) say(`charged to ${r.chargedTenantId}`);
  if (r.tenantId !== r.chargedTenantId && !(r.tenantId === "t-d" && r.chargedTenantId === "t-a"))
    say(`of ${r.tenantId} and charged to ${r.chargedTenantId}`);
}

/** What it takes anew it may take: there, sound, nobody's, and not withheld from it. */
function checkHolding(at: At, before: Reservation | null, after: Reservation): void {
  const { rows, say } = at;
  const was = new Map(before?.members.map((member) => [member.index, text(member)]));
  const moved = after.members.filter((member) => was.get(member.index) !== text(member));
  for (const member of moved) checkRoom(at, { r: after, member, window: after });
  if (before && after.end > before.end)
    for (const member of after.members)
      checkRoom(at, { r: after, member, window: { start: before.end, end: after.end } });
  if (moved.length === 0) return;
  const units = after.members.flatMap(({ unitIds }) => unitIds);
  if (new Set(units).size !== units.length) say("holds a unit twice");
  const size = after.gang?.size ?? (after.binding === "node" ? after.devices[0]?.count : 1);
  if (after.members.length !== size) say(`has ${after.members.length} members of ${size}`);
  if (after.members.some((member, index) => member.index !== index)) say("has members in disorder");
  const key = after.gang?.topologyKey;
  const domains = after.members.map((m) => nodeOf(rows, m.nodeId)?.labels[key ?? ""]);
  if (key !== undefined && (new Set(domains).size !== 1 || domains.includes(undefined)))
    say(`is spread over ${key} ${domains.join()}`);
  for (const member of moved) checkAsked(at, after, member);
}

interface Room {
  readonly r: Reservation;
  readonly member: Member;
  readonly window: Span;
}

function checkRoom({ rows, say }: At, { r, member, window }: Room): void {
  const node = nodeOf(rows, member.nodeId);
  if (!node) return say(`takes ${member.nodeId}, which is not there`);
  if (node.state !== "ready") say(`takes a node that is ${node.state}`);
  if (node.maintenance.some((w) => meets(w, window))) say("takes a node in its maintenance");
  const others = takenIn(rows.reservations.filter(({ id }) => id !== r.id));
  for (const id of member.unitIds) {
    const unit = node.units.find((u) => u.id === id);
    if (!unit) {
      say(`takes ${id}, which is not on its node`);
      continue;
    }
    if (!bruteIsSound(node, unit)) say(`takes ${id}, which is not sound`);
    const asker = { ...r, start: window.start, end: window.end };
    if (bruteIsWithheld(rows, unit, asker))
      say(`takes ${id}, which is withheld from ${r.tenantId}`);
    const holder = others.find((one) => one.unitIds.includes(id) && meets(one, window));
    if (holder) say(`takes ${id} of ${holder.by.id}${holder.pinned ? " (pinned)" : ""}`);
  }
  const all = takenIn([...rows.reservations.filter(({ id }) => id !== r.id), r]);
  for (const scalar of SCALARS) {
    const peak = scalarPeak(all, { nodeId: node.id, scalar }, window);
    if (member.resources[scalar] > 0 && peak > node.scalars[scalar])
      say(`takes ${scalar} up to ${peak} of ${node.scalars[scalar]}`);
  }
}

/** A member is what was asked for. */
function checkAsked(
  { rows, say }: At,
  r: Reservation,
  { nodeId, unitIds, resources }: Member,
): void {
  const node = nodeOf(rows, nodeId) as Node;
  const held = node.units.filter(({ id }) => unitIds.includes(id));
  if (r.binding === "node") {
    if (text(sorted(unitIds)) !== text(sorted(node.units.map(({ id }) => id))))
      say("leases a node and not all of its units");
    if (text(resources) !== text(node.scalars)) say("leases a node and not all of its scalars");
    return;
  }
  const count = r.devices.reduce((sum, line) => sum + line.count, 0);
  if (held.length !== count || !bruteCanTake(held, r, true))
    say("holds other units than asked for");
  if (text(resources) !== text(r.resources)) say("holds other amounts than asked for");
}

function checkNotice(at: At, before: Reservation | null, after: Reservation): void {
  const { batch, say } = at;
  const { preemption } = after;
  if (after.state !== "preempting" || before?.state === "preempting" || !before || !preemption)
    return;
  if (!before.spot) say("preempted, and not spot");
  const noticeMs = (at.rows.config?.policy.spot?.noticeSeconds ?? 120) * 1_000;
  if (preemption.endsAt < batch.turn.now + noticeMs) say("told too late");
  if (preemption.originalEnd !== before.end) say("forgot its end");
  if (preemption.endsAt >= before.end) say("told of an end that is later than its own");
  const by = batch.turn.changes.find(
    (c) => c.kind === "reservation" && c.before === null && c.after.id === preemption.byId,
  );
  if (by?.kind !== "reservation") return say("preempted for nobody");
  if (by.after.spot) say("preempted for a spot booking");
  if (by.after.start !== preemption.endsAt) say("ends at another time than its preemptor begins");
}

/** What a victim gives back early stays its preemptor's. */
function checkEarlyLeave(at: At, before: Reservation | null, after: Reservation): void {
  const { preemption, endedAt } = after;
  if (isLive(after) || before?.state !== "preempting" || !preemption || endedAt === null) return;
  const by = at.rows.reservations.find(({ id }) => id === preemption.byId);
  if (!by || by.startedAt !== null || endedAt >= by.start) return;
  const wanted = new Set(by.members.flatMap(({ unitIds }) => unitIds));
  const freed = after.members.flatMap((m) => m.unitIds.filter((id) => wanted.has(id)));
  if (freed.length === 0) return;
  const next = at.batch.turn.changes
    .slice(at.place + 1)
    .find((c) => c.kind === "reservation" && c.after.id === by.id);
  const pins = next?.kind === "reservation" ? next.after.pins : [];
  const pinned = new Set(pins.flatMap((pin) => pin.unitIds));
  if (freed.some((id) => !pinned.has(id))) at.say("left early and its units were not pinned");
}

/** Its tenant is told of all that it can see, and nothing that it can see changes under one version. */
function checkTold(
  { events, graced, say }: About,
  before: Reservation | null,
  after: Reservation,
): void {
  if (before && before.version > after.version) say("its version went back");
  if (before && visible(before, graced) === visible(after, graced)) return;
  if (before && before.version >= after.version) say("changed and kept its version");
  const told = events.some(
    ({ reservationId, views, type }) =>
      reservationId === after.id &&
      type !== "reservation.endingSoon" &&
      views.some(
        ({ tenantId, data }) =>
          tenantId === after.tenantId &&
          data["version"] === after.version &&
          data["state"] === after.state,
      ),
  );
  if (!told) say(`became ${after.state} at version ${after.version} and nobody was told`);
}

function visible(r: Reservation, graced: boolean): string {
  const { version: _v, updatedAt: _u, pins: _p, endingSoonAt: _e, ...rest } = r;
  const degraded = r.degraded && { ...r.degraded, untried: undefined };
  const preemption = r.preemption && { ...r.preemption, byId: undefined };
  return text({ ...rest, degraded, preemption, ...(graced && { leaseExpiresAt: null }) });
}

function checkNode({ events, say }: About, { before, after }: Of<"node">): void {
  const id = (after ?? before)?.id;
  const told = (type: string, more: (data: Record<string, unknown>) => boolean = () => true) =>
    events.some(
      (event) =>
        event.type === type &&
        event.views.some(({ data }) => data["nodeId"] === id && more({ ...data })),
    );
  if (!before || !after) {
    if (!told(before ? "node.removed" : "node.registered")) say("came or went and nobody was told");
    return;
  }
  // So did the node, which is told as just that.
  if (told("node.removed") && told("node.registered")) return;
  if (after.version <= before.version) say("changed and kept its version");
  if (before.state !== after.state && !told("node.stateChanged")) say("its state was not told");
  if (before.topologyGen !== after.topologyGen && !told("node.topologyChanged"))
    say("its topology was not told");
  if (text(before.maintenance) !== text(after.maintenance))
    if (!events.some(({ type }) => type.startsWith("maintenance.")))
      say("its maintenance was not told");
  // Several commands of one write: a GPU that left in between came back as a new one.
  if (after.topologyGen > before.topologyGen + 1) return;
  const there = [...before.units, ...before.gpus].filter(({ removed }) => !removed);
  const was = new Map(there.map((unit) => [unit.id, unit.healthy]));
  for (const unit of [...after.units, ...after.gpus])
    if ((was.get(unit.id) ?? unit.healthy) !== unit.healthy)
      if (!told("unit.healthChanged", (data) => data["unitId"] === unit.id))
        say(`the health of ${unit.id} was not told`);
}

function checkTerm({ events, moved, say }: About, { before, after }: Of<"unitReservation">): void {
  if (!after || (!before && moved)) return;
  if (before && text({ ...before, updatedAt: 0 }) === text({ ...after, updatedAt: 0 })) return;
  const told = events.some(({ type, views }) =>
    views.some(
      ({ data }) =>
        type.startsWith("unitReservation.") &&
        data["unitReservationId"] === after.id &&
        data["status"] === after.status,
    ),
  );
  if (!told) say(`became ${after.status} and nobody was told`);
}

/** Whoever waits no more has its booking, is late, went away, or can never be served. */
function checkWaiter({ batch, rows, say }: At, { before, after }: Of<"waiter">): void {
  if (!before || after) return;
  const { turn, gate } = batch;
  const served = turn.changes.some(
    (c) => c.kind === "reservation" && c.before === null && c.after.id === before.id,
  );
  const late = before.deadline <= turn.now;
  const offered = rows.config?.offers.some(({ tenantId }) =>
    [before.tenantId, ...before.ancestors].includes(tenantId),
  );
  const hopeless = !offered || (before.ask.start !== null && before.ask.start < turn.now - 60_000);
  const wentAway = turn.wentAway === before.id;
  if (!served && !late && !hopeless && !wentAway) say(`waits no more in ${gate.state.gateId}`);
  if (served && late) say("was served after its deadline");
}

/** Nobody is told of another tenant's bookings. */
function checkViews(
  events: readonly Told[],
  known: readonly Reservation[],
  faults: string[],
): void {
  const owners = new Map<string, string>(known.map((row) => [row.id, row.tenantId]));
  const check = ({ type, views, reservationId }: Told): void => {
    for (const { tenantId, data } of views)
      for (const [id] of text(data).matchAll(/\brsv_[0-9a-z]+/g))
        if (owners.get(id) !== tenantId) faults.push(`${type} tells ${tenantId} of ${id}`);
    if (reservationId != null && views.length !== 1)
      faults.push(`${type} of ${reservationId} was told to ${views.length}`);
  };
  events.forEach(check);
}
