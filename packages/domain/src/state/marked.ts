/**
 * Live reservations that some rule looks for: those that lack sound units, those that
 * may be preempted, and those under notice.
 */
import type { ReservationId } from "../ids.ts";
import type { Reservation } from "../model.ts";

export class Marked {
  readonly #degraded = new Map<ReservationId, Reservation>();
  readonly #untried = new Set<ReservationId>();
  readonly #preemptible = new Map<ReservationId, Reservation>();
  readonly #victims = new Map<ReservationId, Map<ReservationId, Reservation>>();

  set(old: Reservation | undefined, next: Reservation | null): void {
    if (old) {
      this.#degraded.delete(old.id);
      this.#untried.delete(old.id);
    }
    if (old?.spot) this.#preemptible.delete(old.id);
    if (next?.spot && next.state !== "preempting") this.#preemptible.set(next.id, next);
    if (next?.degraded && next.startedAt === null) {
      this.#degraded.set(next.id, next);
      if (next.degraded.untried) this.#untried.add(next.id);
    }
    if (old?.preemption) this.#victims.get(old.preemption.byId)?.delete(old.id);
    if (next?.preemption) {
      const { byId } = next.preemption;
      const victims = this.#victims.get(byId) ?? new Map<ReservationId, Reservation>();
      victims.set(next.id, next);
      this.#victims.set(byId, victims);
    } else if (old?.preemption && this.#victims.get(old.preemption.byId)?.size === 0)
      this.#victims.delete(old.preemption.byId);
  }

  /** Degraded ones that have not begun, by start, then id. */
  degraded(): Reservation[] {
    return [...this.#degraded.values()].sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
  }

  get degradedCount(): number {
    return this.#degraded.size;
  }

  /** How many of them were flagged in a turn that had no time left to look for room. */
  get untriedCount(): number {
    return this.#untried.size;
  }

  /** Live spot ones that are not under notice, in no stated order. */
  preemptible(): ReadonlyMap<ReservationId, Reservation> {
    return this.#preemptible;
  }

  /** Live ones under notice for the sake of this one, by id. */
  victimsOf(id: ReservationId): Reservation[] {
    return [...(this.#victims.get(id)?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
