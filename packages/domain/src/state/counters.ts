/** The rollup's running totals: each change moves the few numbers that it touches. */
import { RESOURCES } from "../model.ts";
import type { Resource, RollupRow } from "../model.ts";
import type { Bucket } from "../rollup/buckets.ts";

interface Tally {
  ready: number;
  provisioning: number;
  unhealthy: number;
  maintenance: number;
  unreachable: number;
  allocated: number;
  reserved: number;
  /** Of these two, what lies on allocatable units: all that `available` subtracts. */
  allocatedReady: number;
  reservedReady: number;
}

/** One resource's part in one bucket; negative amounts take back. */
export interface Share {
  readonly resource: Resource;
  readonly bucket: Bucket;
  readonly total?: number;
  readonly allocated?: number;
  readonly reserved?: number;
}

export class Counters {
  readonly #tallies = new Map<Resource, Tally>();

  add(share: Share): void {
    const tally = this.#tally(share.resource);
    const { total = 0, allocated = 0, reserved = 0 } = share;
    tally[share.bucket] += total;
    tally.allocated += allocated;
    tally.reserved += reserved;
    if (share.bucket !== "ready") return;
    tally.allocatedReady += allocated;
    tally.reservedReady += reserved;
  }

  /** By resource name; a resource that no node has is left out. */
  rows(): RollupRow[] {
    const rows: RollupRow[] = [];
    for (const resource of [...RESOURCES].sort()) {
      const tally = this.#tallies.get(resource);
      if (!tally) continue;
      const { ready, provisioning, unhealthy, maintenance, unreachable } = tally;
      const total = ready + provisioning + unhealthy + maintenance + unreachable;
      if (total === 0) continue;
      const { allocated, reserved } = tally;
      const available = Math.max(0, ready - tally.allocatedReady - tally.reservedReady);
      const parts = { provisioning, unhealthy, maintenance, unreachable };
      rows.push({ resource, total, allocatable: ready, allocated, reserved, available, ...parts });
    }
    return rows;
  }

  #tally(resource: Resource): Tally {
    const known = this.#tallies.get(resource);
    if (known) return known;
    const tally: Tally = {
      ready: 0,
      provisioning: 0,
      unhealthy: 0,
      maintenance: 0,
      unreachable: 0,
      allocated: 0,
      reserved: 0,
      allocatedReady: 0,
      reservedReady: 0,
    };
    this.#tallies.set(resource, tally);
    return tally;
  }
}
