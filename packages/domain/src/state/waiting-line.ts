/** Who waits for room, in the order in which they are served. */
import type { ReservationId, TenantId } from "../ids.ts";
import type { Waiter } from "../claims.ts";

export class WaitingLine {
  readonly #byId = new Map<ReservationId, Waiter>();
  readonly #ofTenant = new Map<TenantId, number>();
  /** Higher priority first, then the older one, then by id. */
  readonly #line: Waiter[] = [];

  get(id: ReservationId): Waiter | undefined {
    return this.#byId.get(id);
  }

  get size(): number {
    return this.#line.length;
  }

  all(): readonly Waiter[] {
    return this.#line;
  }

  countOf(tenantId: TenantId): number {
    return this.#ofTenant.get(tenantId) ?? 0;
  }

  set(id: ReservationId, waiter: Waiter | null): void {
    const old = this.#byId.get(id);
    if (old) {
      this.#byId.delete(id);
      this.#line.splice(this.#position(old), 1);
      this.#count(old.tenantId, -1);
    }
    if (!waiter) return;
    this.#byId.set(id, waiter);
    this.#line.splice(this.#position(waiter), 0, waiter);
    this.#count(waiter.tenantId, 1);
  }

  #count(tenantId: TenantId, step: 1 | -1): void {
    const count = this.countOf(tenantId) + step;
    if (count === 0) this.#ofTenant.delete(tenantId);
    else this.#ofTenant.set(tenantId, count);
  }

  #position(waiter: Waiter): number {
    let low = 0;
    let high = this.#line.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (comesBefore(this.#line[mid] as Waiter, waiter)) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}

function comesBefore(a: Waiter, b: Waiter): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.since !== b.since ? a.since < b.since : a.id < b.id;
}
