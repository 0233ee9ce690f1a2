/** One pool, from its first batch on: every event has to be legal where it stands, every row to be told of. */
import { betweenEvents } from "./between.ts";
import { Bookings } from "./bookings.ts";
import { type Facts, factsOfEvent, factsOfRow, sameFacts, transition } from "./facts.ts";
import {
  type BookingRow,
  type FenceRow,
  type KeyRow,
  type MaintenanceRow,
  type NodeRow,
  type OfferRow,
  type PoolRow,
  type QuotaRow,
  type ReservationRow,
  type UnitRow,
  isLive,
} from "./rows.ts";
import type { Batch, EventRow, Report, WrittenRow } from "./types.ts";
import type { View } from "./view.ts";

/** One reservation, whatever became of it. */
export interface Known {
  row: ReservationRow;
  /** As its last event told of it. */
  told: Facts;
  /** By version. A version that an event told of never changes, but for a lease that an outage raised. */
  readonly versions: Map<number, Facts>;
  /** When the batch in which it ended was applied; null while it is live. */
  endedSeq: number | null;
}

/** What one batch did, for those who compare answers with it. */
export interface Applied {
  readonly batch: Batch;
  /** An event once, whoever saw it; in their order. */
  readonly events: readonly EventRow[];
  /** Reservations that the batch wrote. */
  readonly touched: readonly Known[];
  readonly keys: readonly KeyRow[];
  readonly before: View;
  readonly after: View;
  /** The pool between two of its events. */
  readonly between: () => View[];
}

export class PoolReplay {
  readonly gateId: string;
  seq = 0;
  at = 0;
  /** Views of events, as the table has them. */
  eventCount = 0;
  readonly reservations = new Map<string, Known>();
  /** By the pool's clock: what ended by then may be forgotten. */
  forgottenTo = 0;
  readonly bookings: Bookings;
  #pool: PoolRow | null = null;
  readonly #offers = new Map<string, OfferRow>();
  readonly #quotas = new Map<string, QuotaRow>();
  readonly #nodes = new Map<string, NodeRow>();
  /** Replaced, never changed: views hold it. */
  #units: ReadonlyMap<string, UnitRow> = new Map();
  readonly #maintenance = new Map<string, MaintenanceRow>();
  readonly #fences = new Map<string, FenceRow>();
  readonly #live = new Map<string, ReservationRow>();
  readonly #report: Report;

  constructor(gateId: string, report: Report) {
    this.gateId = gateId;
    this.#report = report;
    this.bookings = new Bookings(report);
  }

  view(): View {
    return {
      gateId: this.gateId,
      seq: this.seq,
      at: this.at,
      pool: this.#pool,
      offers: [...this.#offers.values()],
      quotas: [...this.#quotas.values()],
      nodes: [...this.#nodes.values()],
      units: this.#units,
      maintenance: [...this.#maintenance.values()],
      fences: [...this.#fences.values()].filter((fence) => fence.ended_at === null),
      reservations: [...this.#live.values()],
    };
  }

  apply(batch: Batch): Applied {
    this.eventCount += batch.events.length;
    const events = this.#oncePerEvent(batch);
    this.#checkOrder(batch, events);
    const before = this.view();
    [this.seq, this.at] = [batch.seq, Math.max(this.at, batch.at)];
    const rows = this.#write(batch.rows);
    const touched = this.#reservationsOf(events, rows.reservations);
    this.bookings.write(rows.bookings, this.#units);
    for (const { row } of touched)
      if (isLive(row)) this.#live.set(row.id, row);
      else this.#live.delete(row.id);
    const after = this.view();
    for (const known of touched)
      this.bookings.check(known.row, { units: this.#units, where: this.#where() });
    const between = (): View[] =>
      betweenEvents(after, before, { events, told: batch.events, touched });
    return { batch, events, touched, keys: rows.keys, before, after, between };
  }

  /** Forgets those that ended before this number. */
  forget(seq: number): void {
    for (const [id, { endedSeq, row }] of this.reservations)
      if (endedSeq !== null && endedSeq < seq) {
        this.forgottenTo = Math.max(this.forgottenTo, row.ended_at ?? 0);
        this.reservations.delete(id);
        this.bookings.forget(id);
      }
  }

  #where(): string {
    return `${this.gateId} at ${this.seq}`;
  }

  /** Views of one event share its place; each tenant has one. */
  #oncePerEvent({ events, seq }: Batch): EventRow[] {
    const first = new Map<number, EventRow>();
    const seen = new Set<string>();
    for (const event of events) {
      const known = first.get(event.idx);
      if (!known) first.set(event.idx, event);
      else if (known.eventId !== event.eventId || known.type !== event.type)
        this.#report("LOG_HOLE", `${this.gateId} ${seq}.${event.idx} is two events`);
      const view = `${event.idx} ${event.tenantId}`;
      if (seen.has(view))
        this.#report("LOG_HOLE", `${this.gateId} ${seq}.${event.idx} comes twice: ${event.type}`);
      seen.add(view);
    }
    return [...first.values()].toSorted((a, b) => a.idx - b.idx);
  }

  #checkOrder({ seq, batchId, rows }: Batch, events: readonly EventRow[]): void {
    if (seq !== this.seq + 1)
      this.#report("LOG_HOLE", `${this.gateId} goes from ${this.seq} to ${seq}`);
    events.forEach(({ idx, seq: own }, at) => {
      if (idx !== at || own !== seq)
        this.#report("LOG_HOLE", `${this.gateId} ${seq}: event ${at} is numbered ${own}.${idx}`);
    });
    if (batchId === null && rows.length + events.length > 0)
      this.#report("LOG_HOLE", `${this.gateId} ${seq} was given up and has ${rows.length} rows`);
  }

  #write(rows: readonly WrittenRow[]): Written {
    const written: Written = { reservations: new Map(), bookings: [], keys: [] };
    const units = new Map(this.#units);
    for (const { table, op, data } of rows) {
      const put = <T>(into: Map<string, T>, key: string, keep = op !== "D"): void => {
        if (keep) into.set(key, data as T);
        else into.delete(key);
      };
      const id = String(data["id"]);
      const tenant = String(data["tenant_id"]);
      if (table === "pools") this.#pool = data as unknown as PoolRow;
      else if (table === "offers") put(this.#offers, tenant);
      else if (table === "quotas") put(this.#quotas, `${tenant} ${String(data["resource"])}`);
      else if (table === "maintenance")
        put(this.#maintenance, id, ["scheduled", "active"].includes(String(data["state"])));
      else if (table === "unit_reservations") put(this.#fences, id);
      else if (table === "reservations") put(written.reservations, id);
      else if (table === "bookings")
        written.bookings.push({ op, row: data as unknown as BookingRow });
      else if (table === "reservation_keys" && op === "I")
        written.keys.push(data as unknown as KeyRow);
      else if (table === "units") put(units, id, op !== "D" && data["gone_at"] === null);
      else if (table === "nodes") put(this.#nodes, id, op !== "D" && data["removed_at"] === null);
    }
    this.#units = units;
    return written;
  }

  /** Events first, in their order; then the rows have to say what the last of them said. */
  #reservationsOf(events: readonly EventRow[], rows: ReadonlyMap<string, ReservationRow>): Known[] {
    const touched = new Map<string, Known>();
    for (const event of events) {
      const { reservationId: id } = event;
      if (id === null || !event.type.startsWith("reservation.")) continue;
      const known = this.#tell(event, rows.get(id));
      if (known) touched.set(id, known);
    }
    for (const [id, row] of rows) {
      const known = this.reservations.get(id);
      if (!known) {
        this.#report("UNTOLD", `${id} was written in ${this.#where()} and never created`);
        continue;
      }
      this.#compare(known, row);
      known.row = row;
      known.versions.set(row.version, factsOfRow(row));
      if (row.ended_at !== null) known.endedSeq = this.seq;
      touched.set(id, known);
    }
    for (const [id, { told, row }] of touched)
      if (!rows.has(id))
        this.#report("UNTOLD", `${id} is ${told.state} by ${this.#where()}, its row ${row.state}`);
    return [...touched.values()];
  }

  #tell(event: EventRow, row: ReservationRow | undefined): Known | undefined {
    const id = String(event.reservationId);
    const known = this.reservations.get(id);
    const facts = factsOfEvent(event.data);
    const wrong = transition(event.type, known?.told ?? null, facts);
    if (wrong)
      this.#report("ILLEGAL_EVENT", `${event.type} of ${id} in ${this.#where()}: ${wrong}`);
    if (row && event.tenantId !== row.tenant_id)
      this.#report(
        "WATCH",
        `${event.type} of ${row.tenant_id}'s ${id} is told to ${event.tenantId}`,
      );
    if (known) {
      known.told = facts;
      known.versions.set(facts.version, facts);
      return known;
    }
    if (!row) return undefined;
    const made = { row, told: facts, versions: new Map([[facts.version, facts]]), endedSeq: null };
    this.reservations.set(id, made);
    return made;
  }

  /** Only a lease may move, and pins come and go, without an event. */
  #compare(known: Known, row: ReservationRow): void {
    const wrong = sameFacts(known.told, factsOfRow(row));
    const raised = (row.lease_expires_at ?? 0) >= (known.told.leaseExpiresAt ?? 0);
    if (wrong !== null && !(wrong === "leaseExpiresAt" && raised))
      this.#report(
        "UNTOLD",
        `${row.id} in ${this.#where()}: its row has another ${wrong} than told`,
      );
    known.told = factsOfRow(row);
  }
}

interface Written {
  readonly reservations: Map<string, ReservationRow>;
  readonly bookings: { readonly op: WrittenRow["op"]; readonly row: BookingRow }[];
  readonly keys: KeyRow[];
}
