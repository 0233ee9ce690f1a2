/** What callers were told against the log: an answer is one event, a refusal none, an unknown outcome either. */
import { type Facts, factsOfEvent, sameFacts } from "./facts.ts";
import type { Applied, Known } from "./replay.ts";
import type { EventRow, Json, Operation, Report } from "./types.ts";

/** Events that happen only because somebody asked. */
const ASKED_FOR: Readonly<Record<string, string>> = {
  "reservation.created": "reservations.create",
  "reservation.renewed": "reservations.renew",
  "reservation.extended": "reservations.extend",
  "reservation.released": "reservations.release",
};
const CHANGES = new Set([...Object.values(ASKED_FOR), "reservations.terminate"]);

interface KeyFate {
  readonly answered: Set<string>;
  unknown: boolean;
  refused: number | null;
  /** The reservation that the log has for it. */
  made: string | null;
  lastAt: number;
}

export class Answers {
  readonly #report: Report;
  /** By tenant and key. */
  readonly #keys = new Map<string, KeyFate>();
  /** Calls whose outcome nobody knows, by method and reservation: each may have landed, once, whenever. */
  readonly #unknown = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** To be told of every call of a stretch before its batches are looked at. */
  note(op: Operation): void {
    const { method, outcome, input } = op;
    if (method === "reservations.create") {
      const fate = this.#fate(op.tenantId, String(input["idempotencyKey"]));
      fate.lastAt = op.t1;
      if (outcome === "ok") fate.answered.add(String(op.body["id"]));
      else if (outcome === "unknown") fate.unknown = true;
      else fate.refused = op.n;
      if (fate.answered.size > 1)
        this.#report(
          "KEY_TWICE",
          `${String(input["idempotencyKey"])} was answered with ${[...fate.answered].join(" and ")}`,
        );
    } else if (CHANGES.has(method) && outcome === "unknown") {
      const asked = `${method} ${String(input["reservationId"])}`;
      this.#unknown.set(asked, (this.#unknown.get(asked) ?? 0) + 1);
    }
  }

  /** A batch against the calls that were answered with its number. @returns those that wrote it */
  checkBatch({ batch, events, keys }: Applied, ops: readonly Operation[]): Set<Operation> {
    const wrote = new Set<Operation>();
    const keyOf = new Map(keys.map((row) => [row.reservation_id, row]));
    for (const row of keys) this.#claim(row.tenant_id, row.key, row.reservation_id);
    for (const event of events) {
      const method = ASKED_FOR[event.type];
      if (method === undefined) continue;
      const id = String(event.reservationId);
      const { version } = factsOfEvent(event.data);
      const by = ops.find(
        (op) =>
          op.method === method &&
          op.outcome === "ok" &&
          // What a key answers a second time was written by the call that it answered, or lost, before.
          !op.replayed &&
          op.body["id"] === id &&
          op.body["version"] === version &&
          !wrote.has(op),
      );
      if (by) wrote.add(by);
      const asked =
        method === "reservations.create" ? this.#mayHaveMade(keyOf.get(id)) : by !== undefined;
      if (!asked) this.#ghost(event, method, `${batch.gateId} at ${batch.seq}`);
    }
    return wrote;
  }

  /** Keys that nobody will call with again. */
  forget(before: number): void {
    for (const [name, fate] of this.#keys)
      if (fate.lastAt < before && !fate.unknown) this.#keys.delete(name);
  }

  #fate(tenantId: string, key: string): KeyFate {
    const name = JSON.stringify([tenantId, key]);
    const known = this.#keys.get(name);
    if (known) return known;
    const made: KeyFate = {
      answered: new Set(),
      unknown: false,
      refused: null,
      made: null,
      lastAt: 0,
    };
    this.#keys.set(name, made);
    return made;
  }

  #claim(tenantId: string, key: string, id: string): void {
    const fate = this.#fate(tenantId, key);
    if (fate.made !== null && fate.made !== id)
      this.#report("KEY_TWICE", `${key} of ${tenantId} made ${fate.made} and ${id}`);
    fate.made = id;
    for (const answered of fate.answered)
      if (answered !== id)
        this.#report("KEY_TWICE", `${key} made ${id} and was answered with ${answered}`);
  }

  #mayHaveMade(row: { readonly tenant_id: string; readonly key: string } | undefined): boolean {
    if (!row) return false;
    const fate = this.#fate(row.tenant_id, row.key);
    if (fate.answered.size > 0 || fate.unknown) return true;
    if (fate.refused === null) return false;
    this.#report(
      "REFUSED_BUT_BOOKED",
      `operation ${fate.refused} was refused, and ${row.key} made a reservation`,
    );
    return true;
  }

  #ghost(event: EventRow, method: string, where: string): void {
    const asked = `${method} ${String(event.reservationId)}`;
    const left = this.#unknown.get(asked) ?? 0;
    if (left === 0)
      this.#report("GHOST_WRITE", `${event.type} of ${String(event.reservationId)} in ${where}`);
    else this.#unknown.set(asked, left - 1);
  }
}

/** One answered reservation against the log. `written` = the answer is of the very write that has this number. */
export function checkReservation(
  op: Operation,
  known: Known | undefined,
  about: { readonly written: ReadonlySet<number>; readonly report: Report },
): void {
  const { report, written } = about;
  const facts: Facts = factsOfEvent(op.body);
  const id = String(op.body["id"]);
  const said = `operation ${op.n}, ${op.method} at ${String(op.seq)}, says that ${id} is ${facts.state} at version ${facts.version}`;
  if (!known) return report("LOST_WRITE", `${said}: the log has no such reservation`);
  const told = known.versions.get(facts.version);
  if (!told) return report("LOST_WRITE", `${said}: the log ends at version ${known.row.version}`);
  const isNow = facts.version === known.row.version;
  const wrong = sameFacts(told, facts);
  if (wrong !== null) return report("WRONG_READ", `${said}, with another ${wrong} than the log`);
  if (!isNow && !(CHANGES.has(op.method) && !op.replayed && written.has(facts.version)))
    return report(
      facts.version < known.row.version ? "WRONG_READ" : "LOST_WRITE",
      `${said}: it was at ${known.row.version} then`,
    );
  if (isNow && !sameUnits(op.body, known)) report("WRONG_READ", `${said}, on other units`);
}

function sameUnits(body: Json, { row }: Known): boolean {
  const members = body["members"] as readonly { atoms: readonly { unitId: string }[] }[] | null;
  if (!members) return true;
  const shown = members.flatMap(({ atoms }) => atoms.map(({ unitId }) => unitId));
  const held = row.members.flatMap(({ unitIds }) => unitIds);
  return shown.toSorted().join() === held.toSorted().join();
}
