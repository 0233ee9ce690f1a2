/** A bounded queue that serves tenants in turn, each tenant's own wishes in order. */
import type { TenantId } from "@berth/domain";

export class FairQueue<T extends { readonly tenantId: TenantId }> {
  readonly #lanes = new Map<TenantId, T[]>();
  readonly #max: number;
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes the item in, and answers what there is no room for: null, or when the queue is full the newest item
   * of the tenant that has most of them, which may be this one. So nobody's crowd keeps another out.
   */
  push(item: T): T | null {
    this.#append(item);
    if (this.#size < this.#max) {
      this.#size += 1;
      return null;
    }
    let longest = this.#lanes.get(item.tenantId) ?? [];
    for (const lane of this.#lanes.values()) if (lane.length > longest.length) longest = lane;
    const tooMany = longest.pop() ?? item;
    if (longest.length === 0) this.#lanes.delete(tooMany.tenantId);
    return tooMany;
  }

  /** Up to `count` items, one a tenant and round; a tenant served goes behind those that were not. */
  take(count: number): T[] {
    const taken: T[] = [];
    while (taken.length < count && this.#size > 0) {
      const [next] = this.#lanes;
      if (!next) break;
      const [tenantId, lane] = next;
      // Served, the tenant goes behind the others.
      this.#lanes.delete(tenantId);
      taken.push(...lane.splice(0, 1));
      this.#size -= 1;
      if (lane.length > 0) this.#lanes.set(tenantId, lane);
    }
    return taken;
  }

  /** Puts items back in front of all others, tenants and items in the order given. */
  putBack(items: readonly T[]): void {
    if (items.length === 0) return;
    const behind = [...this.#lanes];
    this.#lanes.clear();
    for (const item of items) this.#append(item);
    for (const [tenantId, lane] of behind) {
      const front = this.#lanes.get(tenantId);
      if (front) front.push(...lane);
      else this.#lanes.set(tenantId, lane);
    }
    this.#size += items.length;
  }

  #append(item: T): void {
    const lane = this.#lanes.get(item.tenantId);
    if (lane) lane.push(item);
    else this.#lanes.set(item.tenantId, [item]);
  }
}
