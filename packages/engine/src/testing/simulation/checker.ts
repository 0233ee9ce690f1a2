/** Looks at every write as the database takes it, and at every answer as the caller gets it. */
import type { GateId, PoolSnapshot, ReservationId } from "@berth/domain";
import { PoolState } from "@berth/domain";
import { dump, faultsOfRows, faultsOfWrite } from "@berth/domain/testing";
import { differences } from "../../rebuild.ts";
import { keyText } from "../memory-checks.ts";
import type { Applied, MemoryStore } from "../memory-store.ts";

interface Moment {
  readonly seq: number;
  readonly snapshot: PoolSnapshot;
}

interface Ack {
  readonly gateId: GateId;
  readonly key: { readonly tenantId: string; readonly principal: string; readonly key: string };
  readonly id: ReservationId;
}

/** A lease is good for at least this long after an outage. */
const GRACE_MIN_MS = 30_000;

export class Checker {
  readonly faults: string[] = [];
  readonly #store: MemoryStore;
  /** After how many writes all of a pool's rows are looked at, too. */
  readonly #thorough: number;
  readonly #moments = new Map<GateId, Moment[]>();
  readonly #acks: Ack[] = [];
  writes = 0;

  constructor(store: MemoryStore, thorough: number) {
    this.#store = store;
    this.#thorough = thorough;
    store.applied = (applied) => this.#applied(applied);
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  seqOf(gateId: GateId): number {
    return this.#store.gates.get(gateId)?.head.seq ?? 0;
  }

  /** An answer tells of a place in the pool's order that is not before what was there when it was asked for. */
  answered(gateId: GateId, since: number, { seq }: { readonly seq: number }): void {
    if (seq < since)
      this.fault(`an answer of ${gateId} is of ${seq}, and ${since} was written before`);
    if (seq > this.seqOf(gateId))
      this.fault(`an answer of ${gateId} is of ${seq}, which is not yet`);
  }

  /** What a server holds is what the rows say at that place. */
  read(
    gateId: GateId,
    since: number,
    seen: { readonly value: string; readonly seq: number },
  ): void {
    this.answered(gateId, since, seen);
    const then = this.#moments.get(gateId)?.findLast(({ seq }) => seq <= seen.seq);
    if (!then)
      return this.fault(`${gateId} was read at ${seen.seq}, and nothing was written by then`);
    const rows = dump(PoolState.load(then.snapshot));
    if (rows === seen.value) return;
    const [held, real] = [JSON.parse(seen.value), JSON.parse(rows)] as Record<string, unknown>[];
    for (const part of Object.keys(real ?? {}))
      if (JSON.stringify(held?.[part]) !== JSON.stringify(real?.[part]))
        this.fault(
          `a server holds of ${gateId} at ${seen.seq}: ${part} ${JSON.stringify(held?.[part])}, not ${JSON.stringify(real?.[part])}`,
        );
  }

  acked(gateId: GateId, key: Ack["key"], id: ReservationId): void {
    this.#acks.push({ gateId, key, id });
    this.#ackHolds({ gateId, key, id });
  }

  /** When all is quiet. */
  finish(): void {
    for (const ack of this.#acks) this.#ackHolds(ack);
    for (const what of this.#store.violations) this.fault(`a constraint had to refuse ${what}`);
    const made = new Map<string, number>();
    for (const gate of this.#store.gates.values())
      for (const id of gate.reservations.keys()) made.set(id, 0);
    for (const { reservationId: id } of this.#store.keys.values()) {
      if (!made.has(id)) this.fault(`a key is taken by ${id}, which was never made`);
      made.set(id, (made.get(id) ?? 0) + 1);
    }
    for (const [id, keys] of made) if (keys !== 1) this.fault(`${id} has ${keys} keys`);
    for (const [gateId, { head, history, waiters, events }] of this.#store.gates) {
      const numbers = [...history.values()];
      if (new Set(numbers).size !== numbers.length) this.fault(`${gateId} has a number twice`);
      if (numbers.some((seq) => seq > head.seq)) this.fault(`${gateId} is behind its batches`);
      for (const [id, { waiter }] of waiters) if (waiter) this.fault(`${id} waits for ever`);
      const places = events.map(({ seq, idx }) => seq * 10_000 + idx);
      if (places.some((place, at) => at > 0 && place <= (places[at - 1] ?? 0)))
        this.fault(`the events of ${gateId} are out of order`);
      if (events.some(({ seq }) => !numbers.includes(seq)))
        this.fault(`${gateId} has an event of no batch`);
    }
  }

  #ackHolds({ gateId, key, id }: Ack): void {
    if (!this.#store.gates.get(gateId)?.reservations.has(id))
      this.fault(`${id} was told and is not there`);
    const claim = this.#store.keys.get(keyText(key));
    if (claim?.reservationId !== id)
      this.fault(`${key.key} was told to have made ${id}, it made ${claim?.reservationId}`);
  }

  #applied({ write, now, before, head, moved }: Applied): void {
    this.writes += 1;
    const { gateId, batch } = write;
    const seq = this.seqOf(gateId);
    const rows = this.#store.snapshot(gateId);
    const moments = this.#moments.get(gateId) ?? [];
    this.#moments.set(gateId, [...moments.slice(-200), { seq, snapshot: rows }]);
    const say = (what: string): void => this.fault(`${gateId} at ${seq}: ${what}`);
    if (seq !== head.seq + 1) say(`came after ${head.seq}`);
    if (now < head.lastAt) say(`its clock went back from ${head.lastAt} to ${now}`);
    const { changes, events, graceTo } = batch;
    const { heldSince, outages } = this.#store;
    // Planned while leases were held, it may be written when they are not any more.
    const held = heldSince !== null || (outages.at(-1)?.to ?? 0) >= now;
    const graced = graceTo !== undefined || held;
    for (const fault of faultsOfWrite({ before, changes, events, graced, moved })) say(fault);
    this.#leases({ write, now, before, head, moved }, say);
    if (this.writes % this.#thorough === 0 && rows.config)
      this.#allRows({ before, rows, now }, say);
  }

  #allRows(
    { before, rows, now }: { before: PoolSnapshot; rows: PoolSnapshot; now: number },
    say: (what: string) => void,
  ): void {
    for (const fault of faultsOfRows(before, rows, now)) say(fault);
    const gate = this.#store.gates.get(rows.gateId);
    if (!gate) return;
    const head = {
      ...gate.head,
      gateId: rows.gateId,
      now,
      outages: [],
      heldSince: null,
      sinceBeatMs: 0,
    };
    const { rollup, used } = gate;
    for (const { row, stored, counted } of differences({
      head,
      snapshot: rows,
      rollup,
      used: [...used.values()],
    }))
      say(`${row} is stored as ${JSON.stringify(stored)}, and is ${JSON.stringify(counted)}`);
  }

  /** No lease lapses that an outage was in the way of. */
  #leases({ write, now, before, head }: Applied, say: (what: string) => void): void {
    const lapsed = write.batch.changes.flatMap((change) =>
      change.kind === "reservation" && change.after.state === "expired" ? change.after.id : [],
    );
    for (const id of lapsed) {
      const row = before.reservations.find((one) => one.id === id);
      if (!row?.leaseExpiresAt || row.leaseSeconds === null) continue;
      for (const { from, to } of head.outages) {
        const grace = Math.max(GRACE_MIN_MS, row.leaseSeconds * 500);
        if (to <= now && row.leaseExpiresAt > from && now < Math.min(row.end, to + grace))
          say(`the lease of ${id} lapsed in an outage`);
      }
    }
  }
}
