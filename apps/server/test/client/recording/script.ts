/** The fixed script of the recording: every method of the API at least once, and every kind of refusal. */
import type { Berth, BerthOptions, Node, NodeInput, createBerth, gpus } from "@berth/client";

/** The client under record: another copy than this workspace's. */
export interface Client {
  readonly createBerth: typeof createBerth;
  readonly gpus: typeof gpus;
}

interface World {
  readonly client: Client;
  readonly options: BerthOptions;
  readonly admin: Berth;
}

const HOUR = 3_600_000;

export async function script(client: Client, options: BerthOptions): Promise<void> {
  const given = { ...options, maxRetries: 0 };
  const world: World = { client, options: given, admin: client.createBerth(given) };
  const { siteId, poolId, nodes } = await owner(world);
  const { keyId, vision } = await key(world);
  await reads(vision, poolId);
  await bookings(world, vision, poolId);
  await refusals(world, vision, poolId);
  await machines(world, { poolId, nodes });
  await setAside(world, { vision, siteId, poolId, nodes });
  await told(world, vision, poolId);
  await world.admin.access.revokeKey({ keyId });
  await world.admin.pools.unoffer({ tenantId: "lab", poolId, toTenantId: "vision" });
}

function machine(name: string, rack: string): NodeInput {
  const gpus = Array.from({ length: 8 }, (_, index) => ({
    uuid: `GPU-${name}-${index}`,
    index,
    model: "H100",
    memoryMiB: 81_920,
    nvlinkDomain: name,
    vfioGroup: `${index}`,
  }));
  const size = { vcpu: 64, memoryGiB: 512 };
  return { name, address: `${name}.test:22`, labels: { rack }, ...size, gpus };
}

interface Owned {
  readonly siteId: string;
  readonly poolId: string;
  readonly nodes: readonly Node[];
}

/** Tenants, a site, a pool of two machines, and a third beside it. */
async function owner({ admin }: World): Promise<Owned> {
  const tenantId = "lab";
  await admin.access.whoami();
  await admin.fleet.putTenant({ tenantId, name: "Lab" });
  await admin.fleet.putTenant({ tenantId: "vision", name: "Vision" });
  await admin.fleet.listTenants({});
  await admin.fleet.putProviderAccount({ tenantId, name: "own", kind: "metal" });
  const { id: siteId } = await admin.fleet.putSite({ tenantId, name: "hall", region: "local" });
  await admin.fleet.listSites({ tenantId });
  const { id: poolId } = await admin.pools.create({
    tenantId,
    siteId,
    class: "metal-host",
    gpuModel: "H100",
  });
  await admin.fleet.putNodes({ siteId, poolId, nodes: [machine("n1", "r1"), machine("n2", "r1")] });
  await admin.fleet.putNodes({ siteId, nodes: [machine("n3", "r2")] });
  const nodes = await admin.fleet.listNodes({ tenantId, limit: 2 }).toArray({ limit: 3 });
  const byName = nodes.toSorted((a, b) => a.name.localeCompare(b.name));
  await admin.pools.update({ tenantId, poolId, gpuModel: "H100" });
  await admin.pools.offer({ tenantId, poolId, toTenantId: "vision", quota: { gpu: 24 } });
  await admin.pools.get({ tenantId, poolId });
  return { siteId, poolId, nodes: byName };
}

/** The tenant that books. */
async function key({ admin, client, options }: World): Promise<{ keyId: string; vision: Berth }> {
  const role = "tenant-operator";
  const made = await admin.access.createKey({ tenantId: "vision", role, name: "recorded" });
  await admin.access.listKeys({ tenantId: "vision" });
  return { keyId: made.key.id, vision: client.createBerth({ ...options, token: made.secret }) };
}

/** Of one moment, so they share a request. */
async function reads(vision: Berth, poolId: string): Promise<void> {
  const tenantId = "vision";
  await Promise.all([
    vision.access.whoami(),
    vision.pools.list({ tenantId }),
    vision.capacity.summary({ tenantId }),
    vision.capacity.byPool({ tenantId, poolId }),
    vision.pools.capacity({ tenantId, poolId }),
    vision.capacity.timeline({ tenantId, poolId, from: Date.now(), to: Date.now() + 6 * HOUR }),
  ]);
}

async function bookings({ client, admin }: World, vision: Berth, poolId: string): Promise<void> {
  const tenantId = "vision";
  const one = { tenantId, poolId, ...client.gpus(1), duration: "1h", leaseSeconds: 60 };
  await vision.capacity.preview(one);
  await vision.reservations.quote({ ...one, alternatives: [client.gpus(2)] });
  const made = await vision.reservations.create(one, { idempotencyKey: "recorded-one" });
  await vision.reservations.create(one, { idempotencyKey: "recorded-one" });
  const ref = { tenantId, reservationId: made.id };
  await vision.reservations.get(ref);
  await vision.reservations.renew(ref);
  await vision.reservations.extend({ ...ref, end: made.end + HOUR });
  await vision.reservations.release(ref);
  await vision.withHold(one, (hold) => hold.reservation.id);
  const rack = client.gpus(16, { together: "rack" });
  const later = { start: Date.now() + 24 * HOUR, duration: "7d" };
  const gang = await vision.reservations.create({ tenantId, poolId, ...rack, ...later });
  const reason = "recorded";
  await admin.reservations.terminate({ tenantId, reservationId: gang.id, reason });
  await vision.reservations.list({ tenantId, limit: 2 }).toArray({ limit: 10 });
}

/** One of each code that a caller can bring about. */
async function refusals(
  { client, admin, options }: World,
  vision: Berth,
  poolId: string,
): Promise<void> {
  const tenantId = "vision";
  const one = { tenantId, poolId, ...client.gpus(1), duration: "1h" };
  const nobody = client.createBerth({ ...options, token: "a-token-that-is-no-good" });
  await nobody.access.whoami().safe();
  await vision.reservations.create({ ...one, duration: "-1h" }).safe();
  await vision.reservations.create({ ...one, ...client.gpus(64) }).safe();
  await vision.pools.get({ tenantId, poolId: poolId.replace(/.{4}$/, "0000") }).safe();
  await vision.fleet.putTenant({ tenantId: "lab", name: "Lab" }).safe();
  const all = await vision.reservations.create({ ...one, ...client.gpus(16) });
  await vision.reservations.create(one).safe();
  await vision.capacity.preview(one);
  const ref = { tenantId, reservationId: all.id };
  await vision.reservations.extend({ ...ref, end: all.end + HOUR, version: 99 }).safe();
  await vision.reservations.release(ref);
  await vision.reservations.extend({ ...ref, end: all.end + HOUR }).safe();
  await vision.reservations.create({ ...one, idempotencyKey: "recorded-one" }).safe();
  const foreign = Buffer.from("0123456789abcdef.5.1").toString("base64url");
  await admin.events.list({ tenantId, after: foreign }).safe();
}

async function machines({ admin }: World, { poolId, nodes }: Omit<Owned, "siteId">): Promise<void> {
  const [first, , third] = nodes;
  const nodeId = third?.id ?? "";
  await admin.fleet.getNode({ tenantId: "lab", nodeId });
  await admin.fleet.assignNode({ nodeId, poolId });
  const unitId = third?.units.find((unit) => unit.class === "gpu")?.id ?? "";
  await admin.fleet.setUnitHealth({ unitId, healthy: false });
  await admin.fleet.setUnitHealth({ unitId, healthy: true });
  await admin.fleet.setNodeState({ nodeId, state: "unreachable" });
  const window = {
    nodeId: first?.id ?? "",
    from: Date.now() + 48 * HOUR,
    to: Date.now() + 50 * HOUR,
  };
  await admin.fleet.scheduleMaintenance({ ...window, dryRun: true });
  const { id: maintenanceId } = await admin.fleet.scheduleMaintenance(window);
  await admin.fleet.cancelMaintenance({ maintenanceId: maintenanceId ?? "" });
  await admin.fleet.removeNode({ nodeId });
}

interface Parts extends Owned {
  readonly vision: Berth;
}

/** Units kept for one org, sold as spot, taken back; and one that needs a review. */
async function setAside(
  { admin }: World,
  { vision, siteId, poolId, nodes: [first] }: Parts,
): Promise<void> {
  const nodeId = first?.id ?? "";
  const unitIds = (first?.units ?? []).filter((unit) => unit.class === "gpu").map(({ id }) => id);
  const { unitReservations } = admin;
  const made = await unitReservations.create({
    nodeId,
    unitIds: unitIds.slice(0, 2),
    allowedOrgIds: ["lab"],
    startsAt: new Date().toISOString(),
    endsAt: new Date(Date.now() + 24 * HOUR).toISOString(),
  });
  const fence = { nodeId, reservationId: made.id };
  await unitReservations.get(fence);
  await unitReservations.list({ nodeId }).toArray({ limit: 5 });
  await unitReservations.release(fence);
  await vision.reservations.create({
    tenantId: "vision",
    poolId,
    devices: [{ class: "gpu", count: 1, selector: { unitIds: unitIds.slice(0, 1) } }],
    duration: "1h",
    spot: true,
  });
  await unitReservations.reclaim({ ...fence, expect: [] }).safe();
  const plan = await unitReservations.reclaim({ ...fence, dryRun: true });
  await unitReservations.reclaim({ ...fence, expect: plan.wouldTerminate });
  const whole = machine("n1", "r1");
  await admin.fleet.putNodes({ siteId, nodes: [{ ...whole, gpus: whole.gpus?.slice(1) ?? [] }] });
  await admin.fleet.putNodes({ siteId, nodes: [whole] });
  await unitReservations.reaffirm(fence);
  await unitReservations.cancel(fence);
  const { id } = await admin.pools.create({ tenantId: "lab", siteId, class: "metal-host" });
  await admin.pools.archive({ tenantId: "lab", poolId: id });
}

/** What happened, and who did it. */
async function told({ admin }: World, vision: Berth, poolId: string): Promise<void> {
  const tenantId = "vision";
  const [oldest] = await vision.events.list({ tenantId, limit: 200 }).toArray({ limit: 200 });
  await admin.events.list({ tenantId: "lab", limit: 200 });
  const lastEventId = oldest?.cursor;
  for await (const event of vision.reservations.watch({ tenantId, poolId }, { lastEventId })) {
    if (event) break;
  }
  await admin.access.audit({ tenantId: "lab", limit: 5 });
}
