/** Where a server is killed by name, and what makes it pass each of these places. */
import { setTimeout as delay } from "node:timers/promises";
import { type Berth, createBerth, isBerthError } from "@berth/client";
import type { FailpointName } from "@berth/db";
import { type Fleet, type SpawnedServer, actors, node, pool } from "../harness.ts";

/** Passed by servers at work. */
export const AT_WORK = [
  "queue.drained",
  "delta.read",
  "place.done",
  "apply.before",
  "apply.sent",
  "apply.acked",
  "cache.updated",
  "reply.before",
  "waiter.woken",
  "advance.selected",
  "advance.applied",
  "reclaim.planned",
  "reclaim.applied",
  "heal.planned",
  "heal.applied",
] as const satisfies readonly FailpointName[];

/** Passed when a server starts or stops. */
export const AT_START = [
  "migrate.step",
  "embed.started",
  "embed.stopping",
] as const satisfies readonly FailpointName[];

/** A pool of each kind that the seldom ones need. */
export interface Yard {
  readonly token: string;
  readonly healing: Fleet;
  readonly fenced: Fleet;
  readonly narrow: Fleet;
}

export async function makeYard(server: SpawnedServer): Promise<Yard> {
  const { fleet, token } = server.actors;
  const fenced = pool(1, 2, {
    nodes: [node(`fenced-${Date.now()}`, 2)].map(({ gpus, ...rest }) => ({
      ...rest,
      gpus: gpus?.map((gpu) => ({ ...gpu, vfioGroup: String(gpu.index) })) ?? [],
    })),
  });
  return {
    token: await token("t-a"),
    healing: await fleet(pool(2, 2)),
    fenced: await fleet(fenced),
    narrow: await fleet(pool(1, 1)),
  };
}

/**
 * What a server does seldom, again and again until it has died: it serves a waiter, ends bookings that are
 * over, takes units back from the spot market, heals. The calls fail when it dies; that is the point.
 */
export async function pester(server: SpawnedServer, yard: Yard): Promise<void> {
  let alive = true;
  void server.ended.then(() => (alive = false));
  const tenant = createBerth({
    url: server.url,
    token: yard.token,
    maxRetries: 0,
    timeoutMs: 10_000,
  });
  const hands = { tenant, admin: actors(server.url).admin };
  const again = async (work: () => Promise<unknown>): Promise<void> => {
    while (alive) {
      await work().catch(onlyTheFault);
      await delay(10);
    }
  };
  await Promise.all([
    again(() => serveAWaiter(hands, yard.narrow)),
    again(() => takeBack(hands, yard.fenced)),
    again(() => heal(hands, yard.healing)),
  ]);
}

interface Hands {
  readonly tenant: Berth;
  /** The fleet's. */
  readonly admin: Berth;
}

/** A killed server's answer, or what an earlier one left behind half-way: room that is taken, a term that is there. */
function onlyTheFault(error: unknown): void {
  const expected = /^(NETWORK|TIMEOUT|UNAVAILABLE|NO_CAPACITY|CONFLICT|INVALID_STATE)$/;
  if (!isBerthError(error) || !expected.test(error.code)) throw error;
}

const ONE = [{ class: "gpu" as const, count: 1 }];
const A = "t-a";

/** Two who want the only GPU for a moment: the second waits, and is served when the first one's time is over. */
async function serveAWaiter({ tenant }: Hands, { poolId }: Fleet): Promise<void> {
  const ask = { tenantId: A, poolId, devices: ONE, duration: "1s", wait: { timeoutMs: 8_000 } };
  await Promise.all([1, 2].map(() => tenant.reservations.create(ask)));
}

async function takeBack({ admin }: Hands, { nodeIds, owner }: Fleet): Promise<void> {
  const nodeId = nodeIds[0] ?? "";
  const { units } = await admin.fleet.getNode({ tenantId: owner, nodeId });
  const { reservations } = await admin.unitReservations.list({ nodeId });
  const left = reservations.find(({ status }) => status === "active");
  const unitIds = units.map(({ id }) => id);
  const { id } =
    left ?? (await admin.unitReservations.create({ nodeId, unitIds, allowedOrgIds: [A] }));
  const ref = { nodeId, reservationId: id };
  await admin.unitReservations.release({ ...ref, unitIds });
  await admin.unitReservations.reclaim({ ...ref, unitIds });
}

/** A booking on a GPU that fails and comes back. */
async function heal({ tenant, admin }: Hands, { poolId, nodeIds, owner }: Fleet): Promise<void> {
  for (const nodeId of nodeIds) {
    const { units } = await admin.fleet.getNode({ tenantId: owner, nodeId });
    for (const { id, healthy } of units)
      if (!healthy) await admin.fleet.setUnitHealth({ unitId: id, healthy: true });
  }
  const booked = await tenant.reservations.create({
    tenantId: A,
    poolId,
    devices: ONE,
    duration: "2s",
  });
  const unitId = booked.members?.[0]?.atoms[0]?.unitId ?? "";
  await admin.fleet.setUnitHealth({ unitId, healthy: false });
  await tenant.reservations.release({ tenantId: A, reservationId: booked.id });
}
