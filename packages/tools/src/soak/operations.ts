/** Everything that a soak's writers do, each at random: a name, how often, and the call. */
import { randomUUID } from "node:crypto";
import {
  GUESTS,
  LAYOUTS,
  MODEL,
  OWNER,
  PLATFORM,
  type SoakPool,
  TENANTS,
  type World,
} from "./world.ts";

/** Chances and choices that a seed gives again. */
export interface Dice {
  below(n: number): number;
  chance(p: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Hands {
  readonly world: World;
  readonly dice: Dice;
  /** Calls as this tenant, or as the platform's operator, on any server. */
  call(as: string, method: string, input: object): Promise<Reply>;
}

export interface Operation {
  readonly name: string;
  /** Times in `sum of all weights`. */
  readonly weight: number;
  run(hands: Hands): Promise<unknown>;
}

/** Ids that writers remember; the oldest go first. */
const REMEMBERED = 400;
const SECOND = 1_000;

export const OPERATIONS: readonly Operation[] = [
  { name: "create a hold", weight: 22, run: (h) => create(h, holdOf(h)) },
  { name: "create spot", weight: 14, run: (h) => create(h, { ...holdOf(h), spot: true }) },
  { name: "create a gang", weight: 6, run: (h) => create(h, gangOf(h)) },
  { name: "create a lease of nodes", weight: 3, run: (h) => create(h, leaseOf(h)) },
  { name: "create MIG", weight: 6, run: (h) => create(h, migOf(h), "mig") },
  { name: "create slots", weight: 4, run: (h) => create(h, slotsOf(h), "timeslice") },
  { name: "create and wait", weight: 5, run: waitForRoom },
  { name: "release", weight: 24, run: (h) => onReservation(h, "reservations.release", {}) },
  { name: "renew", weight: 4, run: (h) => onReservation(h, "reservations.renew", {}) },
  { name: "extend", weight: 5, run: extend },
  { name: "terminate", weight: 2, run: terminate },
  { name: "preview", weight: 4, run: preview },
  { name: "read capacity", weight: 10, run: readCapacity },
  { name: "get", weight: 5, run: (h) => onReservation(h, "reservations.get", {}) },
  { name: "list", weight: 3, run: list },
  { name: "node state", weight: 5, run: nodeState },
  { name: "unit health", weight: 4, run: unitHealth },
  { name: "maintenance", weight: 3, run: maintenance },
  { name: "cancel maintenance", weight: 2, run: cancelMaintenance },
  { name: "report again", weight: 2, run: reportAgain },
  { name: "move a node", weight: 2, run: moveNode },
  { name: "offer", weight: 2, run: offer },
  { name: "unoffer", weight: 1, run: unoffer },
  { name: "update a pool", weight: 2, run: updatePool },
  { name: "ring-fence", weight: 3, run: ringFence },
  { name: "release ring-fenced units", weight: 2, run: (h) => onRingFence(h, "release", {}) },
  {
    name: "reclaim",
    weight: 2,
    run: (h) => onRingFence(h, "reclaim", { dryRun: h.dice.chance(0.3) }),
  },
  { name: "reaffirm", weight: 1, run: (h) => onRingFence(h, "reaffirm", {}) },
  { name: "cancel a ring-fence", weight: 2, run: (h) => onRingFence(h, "cancel", {}) },
  { name: "move a tenant", weight: 1, run: moveTenant },
  { name: "remove a node", weight: 1, run: removeNode },
  { name: "archive a pool", weight: 1, run: archivePool },
];

function remember<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > REMEMBERED) list.shift();
}

async function create(
  hands: Hands,
  ask: object,
  mode: SoakPool["mode"] = "exclusive",
): Promise<Reply> {
  const { world, dice } = hands;
  const tenantId = mode === "timeslice" ? OWNER : dice.pick(TENANTS);
  const poolId = poolOf(world, dice, mode);
  const key = { idempotencyKey: randomUUID() };
  const input = { tenantId, poolId, ...windowOf(dice), ...key, ...ask };
  const reply = await hands.call(tenantId, "reservations.create", input);
  const id = reply.body["id"];
  if (reply.status === 200 && typeof id === "string")
    remember(world.reservations, { tenantId, id });
  // A retry is the same reservation.
  if (dice.chance(0.1)) await again(hands, { tenantId, input, id });
  return reply;
}

async function again(
  hands: Hands,
  first: { readonly tenantId: string; readonly input: object; readonly id: unknown },
): Promise<void> {
  const { status, body } = await hands.call(first.tenantId, "reservations.create", first.input);
  if (typeof first.id === "string" && status === 200 && body["id"] !== first.id)
    throw new Error(`one key made ${first.id} and ${String(body["id"])}`);
}

function poolOf(world: World, dice: Dice, mode: SoakPool["mode"]): string {
  return dice.pick(world.pools.filter((pool) => pool.mode === mode)).id;
}

function windowOf(dice: Dice): object {
  const duration = (1 + dice.below(40)) * SECOND;
  const start = dice.chance(0.4) ? { start: Date.now() + dice.below(60) * SECOND } : {};
  const lease = dice.chance(0.15) ? { leaseSeconds: 30 } : {};
  return { ...start, duration, ...lease };
}

function holdOf({ dice }: Hands): object {
  const devices: object[] = [{ class: "gpu", count: 1 + dice.below(8) }];
  if (dice.chance(0.2)) devices.push({ class: "nic.vf", count: 1 });
  const topology = dice.chance(0.2) ? { topology: "nvlink-all" } : {};
  const resources = dice.chance(0.3) ? { resources: { vcpu: 1 + dice.below(16) } } : {};
  return { devices, ...topology, ...resources };
}

function gangOf({ dice }: Hands): object {
  const key = dice.chance(0.5) ? { topologyKey: "rack" } : {};
  const spot = dice.chance(0.3) ? { spot: true } : {};
  const gang = { size: 2 + dice.below(2), ...key };
  return { devices: [{ class: "gpu", count: 2 + dice.below(4) }], gang, ...spot };
}

function leaseOf({ dice }: Hands): object {
  const devices = [{ class: "node", count: 1 }];
  const spot = dice.chance(0.5) ? { spot: true } : {};
  return { binding: "node", node: { profileId: "soak-profile" }, devices, ...spot };
}

function migOf({ dice }: Hands): object {
  const profile = dice.chance(0.5) ? { selector: { profile: dice.pick(LAYOUTS.flat()) } } : {};
  return { devices: [{ class: "gpu.mig", count: 1 + dice.below(2), ...profile }] };
}

function slotsOf({ dice }: Hands): object {
  return { devices: [{ class: "gpu.slot", count: 1 + dice.below(5) }] };
}

function waitForRoom(hands: Hands): Promise<Reply> {
  const devices = [{ class: "gpu", count: 4 + hands.dice.below(5) }];
  return create(hands, { devices, start: undefined, wait: { timeoutMs: hands.dice.below(1_500) } });
}

async function onReservation(hands: Hands, method: string, more: object): Promise<Reply | null> {
  const { world, dice } = hands;
  if (world.reservations.length === 0) return null;
  const { tenantId, id: reservationId } = dice.pick(world.reservations);
  return hands.call(tenantId, method, { tenantId, reservationId, ...more });
}

/** By the pool's owner. */
async function terminate({ world, dice, call }: Hands): Promise<Reply | null> {
  if (world.reservations.length === 0) return null;
  const { id: reservationId } = dice.pick(world.reservations);
  return call(OWNER, "reservations.terminate", { tenantId: OWNER, reservationId, reason: "soak" });
}

function extend(hands: Hands): Promise<unknown> {
  const end = Date.now() + (20 + hands.dice.below(60)) * SECOND;
  const dryRun = hands.dice.chance(0.3) ? { dryRun: true } : {};
  return onReservation(hands, "reservations.extend", { end, ...dryRun });
}

function list({ world, dice, call }: Hands): Promise<Reply> {
  const tenantId = dice.pick(TENANTS);
  const one = dice.chance(0.5) ? { poolId: dice.pick(world.pools).id } : {};
  return call(tenantId, "reservations.list", { tenantId, limit: 20, ...one });
}

function preview(hands: Hands): Promise<Reply> {
  const { world, dice } = hands;
  const tenantId = dice.pick(TENANTS);
  const poolId = poolOf(world, dice, "exclusive");
  const ask = dice.chance(0.3) ? gangOf(hands) : holdOf(hands);
  const input = { tenantId, poolId, idempotencyKey: randomUUID(), ...windowOf(dice), ...ask };
  return hands.call(tenantId, "capacity.preview", input);
}

function readCapacity(hands: Hands): Promise<Reply> {
  const { world, dice } = hands;
  const tenantId = dice.pick(TENANTS);
  const poolId = dice.pick(world.pools).id;
  if (dice.chance(0.3)) return hands.call(tenantId, "capacity.summary", { tenantId });
  const method = dice.chance(0.5) ? "capacity.byPool" : "capacity.timeline";
  return hands.call(tenantId, method, { tenantId, poolId });
}

function nodeState({ world, dice, call }: Hands): Promise<Reply> {
  const state = dice.chance(0.85)
    ? "ready"
    : dice.pick(["unhealthy", "unreachable", "maintenance"]);
  return call(PLATFORM, "fleet.setNodeState", { nodeId: dice.pick(world.nodes).id, state });
}

function unitHealth({ world, dice, call }: Hands): Promise<Reply> {
  const unitId = dice.pick(dice.pick(world.nodes).unitIds);
  return call(PLATFORM, "fleet.setUnitHealth", { unitId, healthy: dice.chance(0.85) });
}

async function maintenance({ world, dice, call }: Hands): Promise<Reply> {
  const from = Date.now() + dice.below(20) * SECOND;
  const to = from + (1 + dice.below(20)) * SECOND;
  const nodeId = dice.pick(world.nodes).id;
  const dryRun = dice.chance(0.3) ? { dryRun: true } : {};
  const reply = await call(PLATFORM, "fleet.scheduleMaintenance", { nodeId, from, to, ...dryRun });
  const id = reply.body["id"];
  if (typeof id === "string") remember(world.maintenance, id);
  return reply;
}

async function cancelMaintenance({ world, dice, call }: Hands): Promise<Reply | null> {
  if (world.maintenance.length === 0) return null;
  return call(PLATFORM, "fleet.cancelMaintenance", { maintenanceId: dice.pick(world.maintenance) });
}

/** Now and then with one GPU rewired, which is another topology. */
function reportAgain({ world, dice, call }: Hands): Promise<Reply> {
  const node = dice.pick(world.nodes);
  const report = structuredClone(node.report) as { gpus: { nvlinkDomain: string }[] };
  const gpu = dice.pick(report.gpus);
  if (dice.chance(0.4)) gpu.nvlinkDomain = dice.pick(["a", "b", "c"]);
  return call(PLATFORM, "fleet.putNodes", { siteId: world.siteId, nodes: [report] });
}

function moveNode({ world, dice, call }: Hands): Promise<Reply> {
  const node = dice.pick(
    world.nodes.filter(({ name }) => name.startsWith("x") || name === "spare"),
  );
  const poolId = dice.chance(0.15) ? null : poolOf(world, dice, "exclusive");
  return call(PLATFORM, "fleet.assignNode", { nodeId: node.id, poolId });
}

/** It comes back with the next report of it. */
async function removeNode({ world, dice, call }: Hands): Promise<Reply> {
  const node = dice.pick(world.nodes.filter(({ name }) => name.startsWith("x")));
  const reply = await call(PLATFORM, "fleet.removeNode", { nodeId: node.id });
  const poolId = poolOf(world, dice, "exclusive");
  await call(PLATFORM, "fleet.putNodes", { siteId: world.siteId, poolId, nodes: [node.report] });
  return reply;
}

/** A short-lived pool of no nodes: opened, offered, booked in vain, archived. */
async function archivePool({ world, dice, call }: Hands): Promise<Reply> {
  const key = { idempotencyKey: randomUUID() };
  const ask = { tenantId: OWNER, siteId: world.siteId, class: "metal-host", ...key };
  const { body } = await call(OWNER, "pools.create", ask);
  const poolId = String(body["id"]);
  const toTenantId = dice.pick(GUESTS);
  await call(OWNER, "pools.offer", { tenantId: OWNER, poolId, toTenantId, quota: { gpu: 1 } });
  const devices = [{ class: "gpu", count: 1 }];
  const booking = { tenantId: toTenantId, poolId, devices, duration: SECOND, ...key };
  await call(toTenantId, "reservations.create", booking);
  return call(OWNER, "pools.archive", { tenantId: OWNER, poolId });
}

function offer({ world, dice, call }: Hands): Promise<Reply> {
  const toTenantId = dice.pick(GUESTS);
  const quota = { gpu: 4 + dice.below(30), "gpu.mig": 4 + dice.below(20), node: dice.below(4) };
  const includeDescendants = dice.chance(0.5);
  const poolId = dice.pick(world.pools.filter((pool) => pool.offered)).id;
  const input = { tenantId: OWNER, poolId, toTenantId, quota, includeDescendants };
  return call(OWNER, "pools.offer", { ...input, priority: dice.below(5) });
}

function unoffer({ world, dice, call }: Hands): Promise<Reply> {
  const poolId = dice.pick(world.pools.filter((pool) => pool.offered)).id;
  return call(OWNER, "pools.unoffer", { tenantId: OWNER, poolId, toTenantId: dice.pick(GUESTS) });
}

function updatePool({ world, dice, call }: Hands): Promise<Reply> {
  const pool = dice.pick(world.pools);
  const policies = {
    exclusive: () => ({
      placement: dice.pick(["pack", "spread"]),
      spot: { noticeSeconds: dice.below(3) },
    }),
    mig: () => ({ migLayout: { [MODEL]: dice.pick(LAYOUTS) } }),
    timeslice: () => ({ sharing: { replicas: 2 + dice.below(4) } }),
  };
  const policy = policies[pool.mode]();
  return call(OWNER, "pools.update", { tenantId: OWNER, poolId: pool.id, policy });
}

async function ringFence({ world, dice, call }: Hands): Promise<Reply> {
  const node = dice.pick(
    world.nodes.filter(({ name }) => name.startsWith("x") || name === "spare"),
  );
  const first = dice.below(7);
  const unitIds = node.unitIds.slice(first, first + 1 + dice.below(2));
  const startsAt = new Date(Date.now() + dice.below(10) * SECOND).toISOString();
  const endsAt = new Date(Date.now() + (15 + dice.below(30)) * SECOND).toISOString();
  const managing = dice.chance(0.3) ? { managingOrgIds: ["bee"] } : {};
  const term = dice.chance(0.8) ? { startsAt, endsAt } : {};
  const input = {
    nodeId: node.id,
    unitIds,
    allowedOrgIds: [dice.pick(GUESTS)],
    ...managing,
    ...term,
  };
  const reply = await call(PLATFORM, "unitReservations.create", input);
  const id = reply.body["id"];
  if (typeof id === "string") remember(world.unitReservations, { nodeId: node.id, id });
  return reply;
}

async function onRingFence(
  { world, dice, call }: Hands,
  verb: string,
  more: object,
): Promise<Reply | null> {
  if (world.unitReservations.length === 0) return null;
  const { nodeId, id: reservationId } = dice.pick(world.unitReservations);
  return call(PLATFORM, `unitReservations.${verb}`, { nodeId, reservationId, ...more });
}

function moveTenant({ dice, call }: Hands): Promise<Reply> {
  const parentId = dice.pick(["ant", "bee"]);
  return call(PLATFORM, "fleet.putTenant", { tenantId: "kid", parentId });
}
