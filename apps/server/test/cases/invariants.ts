/**
 * What must hold of a pool after every case, recounted from the answers of the API alone: rows that agree
 * wherever they are read, plain counts, no GPU held twice, quota use that is the peak of what is booked.
 */
import type { CapacityRow, Reservation } from "@berth/client";
import { expect } from "vitest";
import type { Fleet, TestServer } from "../harness.ts";

const LIVE = ["scheduled", "active", "preempting"] as const;
const PARTS = ["allocatable", "provisioning", "unhealthy", "maintenance", "unreachable"] as const;
const COUNTS = ["total", "allocated", "reserved", "available", ...PARTS] as const;

/** Fails with the first answer that contradicts another one, or the bookings. */
export async function expectConsistent(server: TestServer, fleet: Fleet): Promise<Counts> {
  const [rows, live, use] = await Promise.all([
    rowsReadEveryWay(server, fleet),
    liveReservations(server, fleet),
    quotaUse(server, fleet),
  ]);
  expectPlainCounts(rows);
  expectHeldOnce(live);
  const gpu = rows.find((row) => row.resource === "gpu");
  expect({ allocated: gpu?.allocated ?? 0, reserved: gpu?.reserved ?? 0 }).toEqual({
    allocated: gpusOf(live.filter(({ state }) => state !== "scheduled")).size,
    reserved: gpusOf(live.filter(({ state }) => state === "scheduled")).size,
  });
  expectPeakUse(use, live);
  await server.expectHealthy();
  return { rows, live, use };
}

export interface Counts {
  readonly rows: readonly CapacityRow[];
  readonly live: readonly Reservation[];
  readonly use: readonly Use[];
}

/** Releases whatever is still held, and fails unless every count and every use is back at zero. */
export async function expectEmptyAfterRelease(server: TestServer, fleet: Fleet): Promise<void> {
  const { live } = await expectConsistent(server, fleet);
  await releaseEach(server, live);
  const { rows, use } = await expectConsistent(server, fleet);
  for (const row of rows) expect(row).toMatchObject({ allocated: 0, reserved: 0 });
  for (const { used } of use) expect(used).toBe(0);
}

/** Releases them, whosever they are. */
export async function releaseEach(
  server: TestServer,
  reservations: readonly Reservation[],
): Promise<void> {
  await Promise.all(
    reservations.map(({ id, tenantId }) =>
      server.admin.reservations.release({ tenantId, reservationId: id }),
    ),
  );
}

/** The pool's live reservations of all tenants, with members. */
export async function liveReservations(server: TestServer, fleet: Fleet): Promise<Reservation[]> {
  const { admin } = server;
  const { tenants } = await admin.fleet.listTenants({});
  const found = await Promise.all(
    tenants.map(({ tenantId }) =>
      Array.fromAsync(
        admin.reservations.list({
          tenantId,
          poolId: fleet.poolId,
          state: [...LIVE],
          include: ["members"],
          limit: 200,
        }),
      ),
    ),
  );
  return found.flat();
}

/** The `gpu` row, as `capacity.byPool` answers it to the owner. */
export async function gpuRow(server: TestServer, fleet: Fleet): Promise<CapacityRow> {
  const { owner: tenantId, poolId } = fleet;
  const { capacity } = await server.admin.capacity.byPool({ tenantId, poolId });
  const row = capacity.find(({ resource }) => resource === "gpu");
  if (!row) throw new Error("the pool has no gpu row");
  return row;
}

/** What is in use of the tenant's quota, by the pool's own books. */
export async function usedBy(
  server: TestServer,
  fleet: Fleet,
  [tenantId, resource]: readonly [string, string],
): Promise<number | undefined> {
  const rows = await quotaUse(server, fleet);
  return rows.find((row) => row.tenantId === tenantId && row.resource === resource)?.used;
}

/** The distinct GPUs that the reservations hold. */
export function gpusOf(reservations: readonly Reservation[]): Set<string> {
  return new Set(
    reservations
      .flatMap(({ members }) => members ?? [])
      .flatMap(({ atoms }) => atoms)
      .filter((atom) => atom.class === "gpu")
      .map(({ unitId }) => unitId),
  );
}

/** The pool's rows, after all three reads have given every tenant that sees it the same ones. */
async function rowsReadEveryWay(
  server: TestServer,
  { owner, poolId }: Fleet,
): Promise<CapacityRow[]> {
  const { admin } = server;
  const { offers } = await admin.pools.get({ tenantId: owner, poolId });
  const viewers = [owner, ...(offers ?? []).map(({ tenantId }) => tenantId)];
  // As JSON, so that a number in a string would show.
  const { body } = await server.http("capacity.byPool", { tenantId: owner, poolId });
  expect(body["poolId"]).toBe(poolId);
  const rows = body["capacity"] as CapacityRow[];
  const answers = viewers.map(async (tenantId) => {
    const [summary, byPool, capacity] = await Promise.all([
      admin.capacity.summary({ tenantId }),
      admin.capacity.byPool({ tenantId, poolId }),
      admin.pools.capacity({ tenantId, poolId }),
    ]);
    expect(byPool.capacity).toEqual(rows);
    expect(capacity.capacity).toEqual(rows);
    expect(summary.pools.find((pool) => pool.poolId === poolId)?.capacity).toEqual(rows);
  });
  await Promise.all(answers);
  return rows;
}

function expectPlainCounts(rows: readonly CapacityRow[]): void {
  for (const row of rows) {
    for (const field of COUNTS) {
      expect(row[field], `${row.resource}.${field}`).toBeTypeOf("number");
      expect(Number.isInteger(row[field]), `${row.resource}.${field} is an integer`).toBe(true);
      expect(row[field], `${row.resource}.${field}`).toBeGreaterThanOrEqual(0);
      expect(row[field], `${row.resource}.${field}`).toBeLessThanOrEqual(row.total);
    }
    const parts = PARTS.reduce((sum, part) => sum + row[part], 0);
    expect(parts, `parts of ${row.resource}`).toBe(row.total);
  }
}

function expectHeldOnce(live: readonly Reservation[]): void {
  const windows = new Map<string, { start: number; end: number }[]>();
  for (const { members, start, end } of live) {
    for (const { unitId } of (members ?? []).flatMap(({ atoms }) => atoms)) {
      windows.set(unitId, [...(windows.get(unitId) ?? []), { start, end }]);
    }
  }
  for (const [unitId, held] of windows) {
    const ordered = held.toSorted((a, b) => a.start - b.start);
    ordered.forEach(({ start }, at) => {
      const before = ordered[at - 1];
      if (before) expect(start, `${unitId} is held twice`).toBeGreaterThanOrEqual(before.end);
    });
  }
}

export interface Use {
  readonly tenantId: string;
  readonly resource: string;
  readonly used: number;
}

async function quotaUse(server: TestServer, { owner, poolId }: Fleet): Promise<Use[]> {
  const { quota, offers } = await server.admin.pools.get({ tenantId: owner, poolId });
  const own = quota.map(({ resource, used }) => ({ tenantId: owner, resource, used: used ?? -1 }));
  const guests = (offers ?? []).flatMap((offer) =>
    offer.quota.map(({ resource, used }) => ({
      tenantId: offer.tenantId,
      resource,
      used: used ?? -1,
    })),
  );
  return [...own, ...guests];
}

/** `used` is the peak of the tenant's concurrent use: it is reached where a booking starts. */
function expectPeakUse(use: readonly Use[], live: readonly Reservation[]): void {
  const gpus = use.filter((row) => row.resource === "gpu");
  const counted = gpus.map(({ tenantId, resource }) => {
    const own = live.filter((reservation) => reservation.tenantId === tenantId);
    const peaks = own.map(({ start: at }) =>
      own
        .filter(({ start, end }) => start <= at && at < end)
        .reduce((sum, reservation) => sum + gpusOf([reservation]).size, 0),
    );
    return { tenantId, resource, used: Math.max(0, ...peaks) };
  });
  expect(gpus).toEqual(counted);
}
