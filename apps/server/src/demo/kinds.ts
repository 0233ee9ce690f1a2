/**
 * The demo's second act, on a small hall of its own so that any fleet will do: a gang on one rack, a MIG
 * instance, a spot booking that makes way, and ring-fenced GPUs that are sold as spot and taken back.
 */
import type { Berth, Reservation } from "@berth/client";
import type { NodeInput } from "../import/document.ts";
import { type Booker, OWNER, TENANTS } from "./plan.ts";

/** Who books, and the operator. */
export interface Players {
  readonly admin: Berth;
  readonly bookers: Readonly<Record<Booker, Berth>>;
}

const MODEL = "NVIDIA A100-SXM4-80GB";
const NOTICE_SECONDS = 120;

/** Each line as it happens. */
export async function showKinds(players: Players, print: (line: string) => void): Promise<void> {
  const hall = await openHall(players);
  print("More than GPUs of one node, in a second hall: 4 nodes on 2 racks, a spare, a MIG node");
  print(await gangOnARack(players, hall));
  print(await migInstances(players, hall));
  for (const line of await spotMakesWay(players, hall)) print(line);
  for (const line of await soldAndTakenBack(players, hall)) print(line);
}

interface Hall {
  readonly poolId: string;
  readonly migPoolId: string;
  readonly nodeIds: readonly string[];
}

async function openHall({ admin }: Players): Promise<Hall> {
  const site = { tenantId: OWNER, name: "second-hall", region: "local" };
  const { id: siteId } = await admin.fleet.putSite(site);
  const ask = { tenantId: OWNER, siteId, class: "metal-host", gpuModel: "A100" } as const;
  const policy = { label: "second hall", spot: { noticeSeconds: NOTICE_SECONDS } };
  const { id: poolId } = await admin.pools.create({ ...ask, policy });
  const migLayout = { [MODEL]: ["3g.40gb", "2g.20gb", "2g.20gb"] };
  const { id: migPoolId } = await admin.pools.create({
    ...ask,
    sharing: "mig",
    policy: { label: "MIG", migLayout },
  });
  const nodes = ["a", "b"].flatMap((rack) => [1, 2].map((n) => machine(`rack-${rack}-${n}`, rack)));
  const spare = machine("spare", "c", 2);
  const put = await admin.fleet.putNodes({ siteId, poolId, nodes: [...nodes, spare] });
  await admin.fleet.putNodes({ siteId, poolId: migPoolId, nodes: [machine("cut", "b", 1)] });
  for (const toTenantId of TENANTS) {
    const to = { tenantId: OWNER, toTenantId };
    await admin.pools.offer({ ...to, poolId, quota: { gpu: 32 } });
    await admin.pools.offer({ ...to, poolId: migPoolId, quota: { "gpu.mig": 3 } });
  }
  return { poolId, migPoolId, nodeIds: put.nodes.map(({ id }) => id) };
}

function machine(name: string, rack: string, gpus = 8): NodeInput {
  const devices = Array.from({ length: gpus }, (_, index) => ({
    uuid: `GPU-${name}-${index}`,
    index,
    model: MODEL,
    memoryMiB: 81_920,
    nvlinkDomain: name,
    vfioGroup: String(index),
  }));
  return { name, labels: { rack }, vcpu: 128, memoryGiB: 1_024, gpus: devices };
}

async function gangOnARack({ bookers }: Players, { poolId }: Hall): Promise<string> {
  const gang = await bookers.vision.reservations.create({
    tenantId: "vision",
    poolId,
    devices: [{ class: "gpu", count: 8 }],
    gang: { size: 2, topologyKey: "rack" },
    duration: "4h",
  });
  return `  gang   ${gang.id}  vision    2 × 8 GPUs on one rack: ${nodesOf(gang).join(" and ")}`;
}

async function migInstances({ bookers }: Players, { migPoolId }: Hall): Promise<string> {
  const booked = await bookers.speech.reservations.create({
    tenantId: "speech",
    poolId: migPoolId,
    devices: [{ class: "gpu.mig", count: 1, selector: { profile: "3g.40gb" } }],
    duration: "4h",
  });
  const [atom] = (booked.members ?? []).flatMap((member) => member.atoms);
  return `  MIG    ${booked.id}  speech    one ${atom?.profile} of ${atom?.gpuUuid}`;
}

/** Fills what the gang left with spot bookings; a regular one then finds room where one of them is. */
async function spotMakesWay({ bookers }: Players, { poolId }: Hall): Promise<string[]> {
  const { robotics, speech } = bookers;
  const devices = [{ class: "gpu" as const, count: 8 }];
  const spot = { tenantId: "robotics", poolId, devices, duration: "6h", spot: true };
  await robotics.reservations.create(spot);
  await robotics.reservations.create(spot);
  const ask = { tenantId: "speech", poolId, devices, duration: "2h" };
  const { preemptible } = await speech.capacity.preview(ask);
  const regular = await speech.reservations.create(ask);
  const listed = { tenantId: "robotics", poolId, state: ["preempting" as const] };
  const { reservations } = await robotics.reservations.list(listed);
  const lines = reservations.map(
    ({ id, end }) =>
      `  spot   ${id}  robotics  8 GPUs, told that it ends at ${clock(end)}: speech needs them`,
  );
  const foretold = `${preemptible?.count ?? 0} spot booking told, as the preview said`;
  return [
    ...lines,
    `         ${regular.id}  speech    8 GPUs from ${clock(regular.start)} on; ${foretold}`,
  ];
}

/** Ring-fences the spare's two GPUs, sells them as spot, and takes them back. */
async function soldAndTakenBack(
  { admin, bookers }: Players,
  { poolId, nodeIds }: Hall,
): Promise<string[]> {
  const { units, nodeId } = await gpusOf(admin, nodeIds.at(-1) ?? "");
  const allowedOrgIds = ["vision"];
  const { id } = await admin.unitReservations.create({ nodeId, unitIds: units, allowedOrgIds });
  await admin.unitReservations.release({ nodeId, reservationId: id });
  const selector = { unitIds: [units[0] ?? ""] };
  await bookers.robotics.reservations.create({
    tenantId: "robotics",
    poolId,
    devices: [{ class: "gpu", count: 1, selector }],
    duration: "1h",
    spot: true,
  });
  const ask = { nodeId, reservationId: id };
  const plan = await admin.unitReservations.reclaim({ ...ask, dryRun: true });
  const expect = plan.wouldTerminate ?? [];
  const done = await admin.unitReservations.reclaim({ ...ask, expect });
  const same = String(done.terminated) === String(expect) ? "the same" : "others";
  return [
    `  fence  ${id}  2 GPUs kept for vision, sold as spot meanwhile; then taken back`,
    `         dry run would end   ${expect.join(", ")}`,
    `         the real call ended ${(done.terminated ?? []).join(", ")}: ${same}`,
  ];
}

async function gpusOf(admin: Berth, nodeId: string): Promise<{ nodeId: string; units: string[] }> {
  const { units } = await admin.fleet.getNode({ tenantId: OWNER, nodeId });
  return { nodeId, units: units.map(({ id }) => id) };
}

function nodesOf({ members }: Reservation): string[] {
  return (members ?? []).map((member) => member.nodeName);
}

/** UTC, to the second. */
function clock(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)} UTC`;
}
