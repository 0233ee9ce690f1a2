/** A morning at the example's fleet: bookings of three tenants in every state that a page draws. */
import type { World } from "../browser/kit.ts";

const HOUR = 3_600_000;

interface Job {
  readonly tenant: "vision" | "speech" | "robotics";
  readonly model: string;
  readonly gpus: number;
  readonly members?: number;
  readonly inHours?: number;
  readonly hours: number;
  readonly spot?: boolean;
  readonly leaseSeconds?: number;
}

const JOBS: readonly Job[] = [
  { tenant: "vision", model: "H100", gpus: 8, members: 2, hours: 30 },
  { tenant: "vision", model: "H100", gpus: 4, hours: 6, leaseSeconds: 600 },
  { tenant: "speech", model: "H100", gpus: 8, hours: 50 },
  { tenant: "robotics", model: "H100", gpus: 2, hours: 9, spot: true },
  { tenant: "vision", model: "H100", gpus: 8, members: 4, inHours: 48, hours: 72 },
  { tenant: "vision", model: "A100", gpus: 2, hours: 20, spot: true },
  { tenant: "speech", model: "A100", gpus: 8, members: 2, hours: 28 },
  { tenant: "robotics", model: "A100", gpus: 4, inHours: 20, hours: 40 },
  { tenant: "vision", model: "A100", gpus: 8, inHours: 30, hours: 60 },
  { tenant: "speech", model: "L40S", gpus: 3, hours: 90 },
  { tenant: "vision", model: "L40S", gpus: 4, inHours: 6, hours: 24 },
  { tenant: "robotics", model: "T4", gpus: 1, hours: 12 },
];

/** Answers the id of vision's gang that is running. */
export async function seed(world: World): Promise<string> {
  const ids: string[] = [];
  for (const { tenant, model, gpus, members, inHours, hours, spot, leaseSeconds } of JOBS) {
    const made = await world.as(tenant).reservations.create({
      tenantId: tenant,
      poolId: world.pool(model),
      devices: [{ class: "gpu", count: gpus }],
      ...(members === undefined ? {} : { gang: { size: members, topologyKey: "rack" } }),
      ...(inHours === undefined ? {} : { start: Date.now() + inHours * HOUR }),
      ...(spot === undefined ? {} : { spot }),
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
      duration: `${hours}h`,
    });
    ids.push(made.id);
  }
  await setAside(world);
  return ids[0] ?? "";
}

/** Two GPUs of a new node are kept for vision, and another node is to be out of service. */
async function setAside({ admin, pool }: World): Promise<void> {
  const ask = { tenantId: "lab", poolId: pool("H100") };
  const nodes = await admin.fleet.listNodes(ask).toArray({ limit: 100 });
  const worked = nodes.find(({ units }) => units.every(({ spans }) => spans.length === 0));
  if (!worked) throw new Error("no node is free to work on");
  const { nodes: put } = await admin.fleet.putNodes({
    siteId: worked.siteId,
    poolId: ask.poolId,
    nodes: [spare()],
  });
  const fenced = await admin.fleet.getNode({ tenantId: "lab", nodeId: put[0]?.id ?? "" });
  await admin.unitReservations.create({
    nodeId: fenced.id,
    unitIds: fenced.units.slice(0, 2).map(({ id }) => id),
    allowedOrgIds: ["vision"],
  });
  await admin.fleet.scheduleMaintenance({
    nodeId: worked.id,
    from: Date.now() + 8 * HOUR,
    to: Date.now() + 20 * HOUR,
  });
}

/** GPUs can be set aside where a machine of their own can be given them: by IOMMU group. */
function spare() {
  const gpus = Array.from({ length: 8 }, (_, index) => ({
    uuid: `spare-gpu-${index}`,
    index,
    model: "NVIDIA H100 80GB HBM3",
    memoryMiB: 81_559,
    nvlinkDomain: "all",
    vfioGroup: String(index),
  }));
  return { name: "h100-spare", labels: { rack: "r03" }, vcpu: 192, memoryGiB: 2_048, gpus };
}
