/** Ways to falsify a recorded history, each of which the checker has to notice: the test of the test. */
import { spanOf } from "./rows.ts";
import type {
  Batch,
  EventRow,
  FaultCode,
  History,
  Json,
  Operation,
  Stretch,
  WrittenRow,
} from "./types.ts";

type Loose<T> = { -readonly [K in keyof T]: T[K] };

export interface Corruption {
  readonly name: string;
  /** One of these has to be found. */
  readonly expect: readonly FaultCode[];
  /** @returns false when the history has nothing that it could be done to */
  apply(history: History): boolean;
}

export const CORRUPTIONS: readonly Corruption[] = [
  { name: "an acknowledged booking is not in the log", expect: ["LOST_WRITE"], apply: loseWrite },
  { name: "an event comes twice", expect: ["LOG_HOLE"], apply: doubleEvent },
  { name: "a batch is missing", expect: ["LOG_HOLE"], apply: loseBatch },
  {
    name: "two writes have each other's numbers",
    expect: ["REAL_TIME", "STALE_READ"],
    apply: swapNumbers,
  },
  { name: "two bookings of one unit overlap", expect: ["OVERLAP"], apply: overlap },
  { name: "a booking has an empty window", expect: ["EMPTY_WINDOW"], apply: emptyWindow },
  { name: "one key made two reservations", expect: ["KEY_TWICE"], apply: keyTwice },
  { name: "a refused call booked", expect: ["REFUSED_BUT_BOOKED"], apply: refusedButBooked },
  { name: "a booking that nobody asked for", expect: ["GHOST_WRITE"], apply: ghost },
  { name: "a read is older than a write before it", expect: ["STALE_READ"], apply: staleRead },
  { name: "a reservation is read as it was before", expect: ["WRONG_READ"], apply: oldVersion },
  { name: "counts are read in the middle of a batch", expect: ["WRONG_READ"], apply: halfBatch },
  { name: "a preview says the opposite", expect: ["WRONG_READ"], apply: previewLies },
  { name: "a reservation ends twice", expect: ["ILLEGAL_EVENT"], apply: endTwice },
  { name: "a reservation ends untold", expect: ["UNTOLD"], apply: endUntold },
  { name: "more is in use than the quota allows", expect: ["OVER_QUOTA"], apply: overQuota },
  { name: "the shown use drifts", expect: ["QUOTA_DRIFT"], apply: quotaDrift },
  { name: "the quota in the end is another", expect: ["FINAL"], apply: finalQuota },
  {
    name: "a live reservation in the end is not in the log",
    expect: ["FINAL"],
    apply: finalHasMore,
  },
  { name: "booked on a node that was down", expect: ["UNSOUND"], apply: unsound },
  { name: "refused though there was room", expect: ["COULD_HAVE_FIT"], apply: hadRoom },
  { name: "refused though there was quota", expect: ["COULD_HAVE_PAID"], apply: hadQuota },
  { name: "a watcher misses an event", expect: ["WATCH"], apply: seenWithout },
  { name: "a watcher is sent an event twice", expect: ["WATCH"], apply: seenTwice },
  { name: "a watcher is sent events out of order", expect: ["WATCH"], apply: seenSwapped },
  { name: "an event is told to another tenant", expect: ["WATCH"], apply: toldToAnother },
];

const batches = ({ stretches }: History): Loose<Batch>[] => stretches.flatMap((s) => s.batches);
const operations = ({ stretches }: History): Loose<Operation>[] =>
  stretches.flatMap((s) => s.operations);

/** The one in the middle of those that will do: a history's ends are special. */
function middle<T>(list: readonly T[]): T | undefined {
  return list[list.length >> 1];
}

const created = (batch: Batch): EventRow[] =>
  batch.events.filter(({ type }) => type === "reservation.created");
const isCreate = (op: Operation): boolean =>
  op.method === "reservations.create" && op.outcome === "ok" && !op.replayed;

/** Answered creates with the batch that made the reservation. */
function made(history: History): { op: Loose<Operation>; batch: Loose<Batch>; id: string }[] {
  const byId = new Map<string, Loose<Batch>>();
  for (const batch of batches(history))
    for (const { reservationId } of created(batch)) byId.set(String(reservationId), batch);
  return operations(history).flatMap((op) => {
    const id = String(op.body["id"]);
    const batch = isCreate(op) ? byId.get(id) : undefined;
    return batch && batch.seq === op.seq ? [{ op, batch, id }] : [];
  });
}

function loseWrite(history: History): boolean {
  const found = middle(made(history));
  if (!found) return false;
  for (const batch of batches(history)) {
    batch.rows = batch.rows.filter(
      ({ data }) => data["reservation_id"] !== found.id && data["id"] !== found.id,
    );
    batch.events = batch.events.filter(({ reservationId }) => reservationId !== found.id);
  }
  return true;
}

function doubleEvent(history: History): boolean {
  const batch = middle(batches(history).filter(({ events }) => events.length > 0));
  if (batch) batch.events = [...batch.events, ...batch.events.slice(0, 1)];
  return batch !== undefined;
}

function loseBatch(history: History): boolean {
  const stretch = history.stretches[0] as Loose<Stretch> | undefined;
  if (!stretch) return false;
  const lost = middle(
    stretch.batches.filter(({ gateId, events }) => gateId.startsWith("pool_") && events.length > 0),
  );
  stretch.batches = stretch.batches.filter((batch) => batch !== lost);
  return lost !== undefined;
}

/** Two creates of one pool, one after the other had ended. */
function swapNumbers(history: History): boolean {
  const all = made(history);
  const first = middle(all);
  const second = all.find(
    ({ op, batch }) =>
      first &&
      batch.gateId === first.batch.gateId &&
      op.t0 > first.op.t1 &&
      batch.seq > first.batch.seq + 3,
  );
  if (!first || !second) return false;
  const [a, b] = [first.batch, second.batch];
  const content = ({ rows, events }: Batch): Pick<Batch, "rows" | "events"> => ({ rows, events });
  const [was, is] = [content(a), content(b)];
  const renumber = (events: readonly EventRow[], seq: number): EventRow[] =>
    events.map((event) => ({ ...event, seq }));
  Object.assign(a, { ...is, events: renumber(is.events, a.seq) });
  Object.assign(b, { ...was, events: renumber(was.events, b.seq) });
  for (const op of operations(history)) {
    if (op.body["poolId"] !== a.gateId) continue;
    if (op.seq === first.batch.seq) op.seq = second.batch.seq;
    else if (op.seq === second.batch.seq) op.seq = first.batch.seq;
  }
  return true;
}

const bookingsIn = (batch: Batch): Loose<WrittenRow>[] =>
  batch.rows.filter(({ table, op }) => table === "bookings" && op === "I");

/** What another one holds at that time, once more. */
function overlap(history: History): boolean {
  const inserts = batches(history).flatMap(bookingsIn);
  const late = new Set<WrittenRow>(inserts.slice(inserts.length >> 1));
  const held = new Map<string, WrittenRow>();
  for (const batch of batches(history))
    for (const row of batch.rows.filter(({ table }) => table === "bookings")) {
      const { pool_id, reservation_id, unit_key } = row.data;
      const other = [...held.values()].find(
        ({ data }) => data["pool_id"] === pool_id && data["reservation_id"] !== reservation_id,
      );
      const window = spanOf(String(other?.data["during"]));
      if (other && late.has(row) && window.end > batch.at + 1_000) {
        const taken = { unit_key: other.data["unit_key"], during: other.data["during"] };
        Object.assign(row, { data: { ...row.data, ...taken } });
        return true;
      }
      const name = JSON.stringify([reservation_id, unit_key]);
      if (row.op === "D" || window.end <= batch.at) held.delete(name);
      if (row.op !== "D") held.set(name, row);
    }
  return false;
}

function emptyWindow(history: History): boolean {
  const row = middle(batches(history).flatMap(bookingsIn));
  const from = /\d+/.exec(String(row?.data["during"]))?.[0];
  if (row) row.data = { ...row.data, during: `[${from},${from})` };
  return row !== undefined;
}

const keyRows = (history: History): Loose<WrittenRow>[] =>
  batches(history).flatMap(({ rows }) => rows.filter(({ table }) => table === "reservation_keys"));

function keyTwice(history: History): boolean {
  const rows = keyRows(history);
  const one = middle(rows);
  const other = rows.find((row) => row !== one && row.data["tenant_id"] === one?.data["tenant_id"]);
  if (one && other) other.data = { ...other.data, key: one.data["key"] };
  return one !== undefined && other !== undefined;
}

function refusedButBooked(history: History): boolean {
  const tries = Map.groupBy(
    operations(history).filter(({ method }) => method === "reservations.create"),
    ({ input }) => input["idempotencyKey"],
  );
  const op = middle(
    operations(history).filter(
      (o) => isCreate(o) && tries.get(o.input["idempotencyKey"])?.length === 1,
    ),
  );
  if (op) Object.assign(op, { outcome: "refused", code: "NO_CAPACITY", seq: null, body: {} });
  return op !== undefined;
}

function ghost(history: History): boolean {
  const tries = Map.groupBy(operations(history), ({ input }) => input["idempotencyKey"]);
  const op = middle(
    operations(history).filter(
      (o) => isCreate(o) && tries.get(o.input["idempotencyKey"])?.length === 1,
    ),
  );
  for (const stretch of history.stretches as readonly Loose<Stretch>[])
    stretch.operations = stretch.operations.filter((other) => other !== op);
  return op !== undefined;
}

const reads = (history: History, method: string): Loose<Operation>[] =>
  operations(history).filter(
    (op) => op.method === method && op.outcome === "ok" && op.seq !== null,
  );

function staleRead(history: History): boolean {
  const op = middle(reads(history, "capacity.preview").filter(({ seq }) => Number(seq) > 50));
  if (op) op.seq = Number(op.seq) - 40;
  return op !== undefined;
}

/** One version back, with what that version was. */
function oldVersion(history: History): boolean {
  const facts = new Map<string, Json>();
  for (const { events } of batches(history))
    for (const { reservationId, data } of events)
      facts.set(`${reservationId} ${String(data["version"])}`, data);
  for (const op of reads(history, "reservations.get").toReversed()) {
    const before = facts.get(`${String(op.body["id"])} ${Number(op.body["version"]) - 1}`);
    if (!before) continue;
    op.body = { ...op.body, ...before };
    return true;
  }
  return false;
}

/** Of a pool in which no unit had been reserved by then: what is withheld is not counted by the checker. */
function halfBatch(history: History): boolean {
  const firstFence = new Map<string, number>();
  for (const { gateId, seq, rows } of batches(history))
    if (rows.some(({ table }) => table === "unit_reservations"))
      firstFence.set(gateId, Math.min(seq, firstFence.get(gateId) ?? Infinity));
  const op = middle(
    reads(history, "capacity.byPool").filter(
      ({ seq, body }) => Number(seq) < (firstFence.get(String(body["poolId"])) ?? Infinity),
    ),
  );
  if (!op) return false;
  const capacity = op.body["capacity"] as readonly Json[];
  op.body = {
    ...op.body,
    capacity: capacity.map((row, i) =>
      i === 0 ? { ...row, allocated: Number(row["allocated"]) + 1 } : row,
    ),
  };
  return true;
}

function previewLies(history: History): boolean {
  const op = middle(reads(history, "capacity.preview"));
  if (op) op.body = { ...op.body, fits: !op.body["fits"], candidates: [] };
  return op !== undefined;
}

function endTwice(history: History): boolean {
  const all = batches(history).filter(({ events }) =>
    events.some(({ type }) => type === "reservation.released"),
  );
  const batch = middle(all);
  const event = batch?.events.find(({ type }) => type === "reservation.released");
  if (!batch || !event) return false;
  const again = batches(history).find((b) => b.gateId === batch.gateId && b.seq === batch.seq + 5);
  if (!again) return false;
  again.events = [
    ...again.events,
    { ...event, seq: again.seq, idx: new Set(again.events.map(({ idx }) => idx)).size },
  ];
  return true;
}

function endUntold(history: History): boolean {
  const batch = middle(
    batches(history).filter(
      ({ events }) => events.length === 1 && events[0]?.type === "reservation.released",
    ),
  );
  if (batch) batch.events = [];
  return batch !== undefined;
}

/** The row of whoever is charged is cut, before and after. */
function overQuota(history: History): boolean {
  for (const batch of batches(history)) {
    const row = batch.rows.find(
      ({ table, data }) => table === "reservations" && data["state"] === "active",
    );
    if (!row || created(batch).length === 0) continue;
    const charged = row.data["charged_tenant_id"];
    for (const other of batches(history).filter(({ gateId }) => gateId === batch.gateId))
      for (const quota of other.rows as Loose<WrittenRow>[])
        if (quota.table === "quotas" && quota.data["tenant_id"] === charged)
          quota.data = { ...quota.data, max: 0 };
    return true;
  }
  return false;
}

function quotaDrift(history: History): boolean {
  // The last row that a batch counted: what comes after it in the batch would put it right.
  const last = batches(history).flatMap(({ at, rows }) => {
    const counted = rows.filter(({ table, data }) => table === "quotas" && data["used_at"] === at);
    return counted.slice(-1) as Loose<WrittenRow>[];
  });
  const row = middle(last);
  if (row) row.data = { ...row.data, used: Number(row.data["used"]) + 1 };
  return row !== undefined;
}

function finalQuota({ final }: History): boolean {
  const row = final && (middle(final.quotas) as Loose<Json> | undefined);
  if (row) Object.assign(row, { used: Number(row["used"]) + 1 });
  return Boolean(row);
}

/** One more, that no batch made. */
function finalHasMore({ final }: History): boolean {
  const more = { id: "rsv_of_nobody", state: "active", version: 1 };
  if (final) Object.assign(final, { reservations: [...final.reservations, more] });
  return final !== null;
}

/** Every node of the pool is down, all along. */
function unsound(history: History): boolean {
  const rows = batches(history).flatMap(({ rows: all }) =>
    all.filter(({ table }) => table === "nodes"),
  );
  for (const row of rows as Loose<WrittenRow>[]) row.data = { ...row.data, state: "unhealthy" };
  return rows.length > 0;
}

/** Nothing that was ever asked for is as small as this. */
function hadRoom(history: History): boolean {
  const facts = operations(history).filter(
    ({ method, code, input }) =>
      method === "reservations.create" &&
      code === "NO_CAPACITY" &&
      !input["gang"] &&
      !input["wait"] &&
      input["binding"] === undefined,
  );
  for (const op of facts)
    op.input = {
      ...op.input,
      devices: [{ class: "nic.vf", count: 1 }],
      resources: {},
      topology: "any",
      start: Date.now() + 3_600_000 * 24 * 30,
    };
  return facts.length > 0;
}

function hadQuota(history: History): boolean {
  const found = operations(history).filter(({ code }) => code === "QUOTA_EXCEEDED");
  for (const op of found)
    op.body = { ...op.body, details: { ...(op.body["details"] as Json), requested: -1_000 } };
  return found.length > 0;
}

function seenBy(history: History): string[] | undefined {
  return history.stretches
    .flatMap(({ seen }) => seen.map(({ eventIds }) => eventIds as string[]))
    .find((ids) => ids.length > 20);
}

function seenWithout(history: History): boolean {
  return seenBy(history)?.splice(10, 1).length === 1;
}

function seenTwice(history: History): boolean {
  const ids = seenBy(history);
  ids?.splice(10, 0, ids[9] ?? "");
  return ids !== undefined;
}

function seenSwapped(history: History): boolean {
  const ids = seenBy(history);
  ids?.splice(10, 2, ids[11] ?? "", ids[10] ?? "");
  return ids !== undefined;
}

function toldToAnother(history: History): boolean {
  const batch = middle(batches(history).filter((b) => created(b).length > 0));
  if (!batch) return false;
  batch.events = batch.events.map((event) =>
    event.type === "reservation.created" ? { ...event, tenantId: "somebody-else" } : event,
  );
  return true;
}
